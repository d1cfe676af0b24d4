import type { Clock } from '../../base/clock.ts';
import { isConflict, isNotFound, formatTime, type KubernetesObject } from '../../api/meta/index.ts';
import type { V1ServiceCIDR } from '../../api/schema/index.ts';
import { ensureObject } from './ensure.ts';
import type { ObjectWriter } from './object-writer.ts';

const SERVICE_CIDRS = { group: 'networking.k8s.io', resource: 'servicecidrs' };
const NAME = 'kubernetes';

export interface ServiceCidrOptions {
  readonly writer: ObjectWriter;
  readonly clock: Clock;
  /** --service-cluster-ip-range, the primary first. */
  readonly cidrs: readonly string[];
}

const sameList = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((one, at) => one === b[at]);

/** One range may become two, never another: services hold addresses of it. */
const widened = (stored: V1ServiceCIDR, cidrs: readonly string[]): boolean =>
  cidrs.length === 2 && sameList(stored.spec?.cidrs, cidrs.slice(0, 1));

/** The default range of service addresses, marked ready where it is what this server was told. */
export const ensureServiceCidr = async ({ writer, clock, cidrs }: ServiceCidrOptions): Promise<void> => {
  const stored = (await ensureObject(writer, SERVICE_CIDRS, {
    object: {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name: NAME },
      spec: { cidrs: [...cidrs] },
    },
    revise: (stored) =>
      widened(stored as V1ServiceCIDR, cidrs) ? { ...stored, spec: { cidrs: [...cidrs] } } : undefined,
  })) as V1ServiceCIDR & KubernetesObject;
  if (stored.metadata?.deletionTimestamp || !sameList(stored.spec?.cidrs, cidrs)) return;
  const conditions = stored.status?.conditions ?? [];
  // False was set by somebody for a reason: it is left for an operator to look at.
  if (conditions.some(({ type, status }) => type === 'Ready' && status !== 'Unknown')) return;
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: '',
    message: 'Kubernetes default Service CIDR is ready',
    lastTransitionTime: formatTime(clock.nowMs()),
  };
  const others = conditions.filter(({ type }) => type !== 'Ready');
  try {
    await writer.update(
      SERVICE_CIDRS,
      { ...stored, status: { ...stored.status, conditions: [...others, ready] } },
      'status',
    );
  } catch (error) {
    // Another server was first.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
};
