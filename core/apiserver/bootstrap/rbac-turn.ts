import type { Clock } from '../../base/clock.ts';
import { hasReason } from '../../base/errors.ts';
import { isAlreadyExists, type KubernetesObject } from '../../api/meta/index.ts';
import { bootstrapPolicy } from '../authz/bootstrap/bootstrap-policy.ts';
import { RBAC_GROUP } from '../authz/rbac/types.ts';
import { pollUntil } from './ensure.ts';
import type { ObjectWriter } from './object-writer.ts';

const ROLES = { group: RBAC_GROUP, resource: 'clusterroles' };
const LAST_BINDINGS = { group: RBAC_GROUP, resource: 'rolebindings' };
/** A first role older than this was not made by a server that is starting now. */
const FRESH_MS = 10_000;
const POLL_MS = 50;
/** Who has not made the last binding by then has died over it. */
const TURN_MS = 3_000;

export interface RbacTurnOptions {
  readonly writer: ObjectWriter;
  readonly minor: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Servers of a new cluster start together, and each would make the same two hundred objects and lose most of the races.
 * Anyone who makes the first role makes the rest; the others wait for the last binding. Nothing depends on it but time: each
 * looks at every object afterwards.
 */
export const awaitRbacTurn = async ({ writer, minor, clock, signal }: RbacTurnOptions): Promise<void> => {
  const { clusterRoles, roleBindings } = bootstrapPolicy(minor);
  const [first, last] = [clusterRoles[0], roleBindings.at(-1)];
  if (!first || !last) return;
  let stored = await writer.get(ROLES, '', first.metadata.name ?? '');
  if (!stored) {
    try {
      await writer.create(ROLES, first as unknown as KubernetesObject);
      return;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    stored = await writer.get(ROLES, '', first.metadata.name ?? '');
  }
  const madeMs = Date.parse(stored?.metadata?.creationTimestamp ?? '');
  if (!(Math.abs(clock.nowMs() - madeMs) < FRESH_MS)) return;
  const { namespace = '', name = '' } = last.metadata;
  try {
    await pollUntil(
      { clock, signal, intervalMs: POLL_MS, limitMs: TURN_MS },
      async () => (await writer.get(LAST_BINDINGS, namespace, name)) !== undefined,
    );
  } catch (error) {
    if (!hasReason(error, 'TimedOut')) throw error;
  }
};
