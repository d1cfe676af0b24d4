import { hasStatusReason, type KubernetesObject } from '../../../api/meta/index.ts';
import { UNENFORCED, type UnenforcedResource } from '../../../api/scheme/index.ts';
import { say } from '../../../contract/index.ts';
import { ok, someOf, warn, type CheckItem } from '../item.ts';
import type { Look } from '../look.ts';

/** Enough to name some; more of a kind are not read. */
const OBJECTS_PER_KIND_MAX = 500;

const nameOf = ({ metadata }: KubernetesObject): string =>
  metadata?.namespace === undefined ? (metadata?.name ?? '') : `${metadata.namespace}/${metadata.name ?? ''}`;

const listed = async (look: Look, one: UnenforcedResource): Promise<readonly string[]> => {
  const path = `/apis/${one.group}/${one.version}/${one.resource}`;
  const query = { limit: OBJECTS_PER_KIND_MAX };
  try {
    const { items = [] } = await look.client.json<{ items?: readonly KubernetesObject[] }>({
      method: 'GET',
      path,
      query,
    });
    return items
      .filter(({ metadata }) => !one.ownAnnotation || metadata?.annotations?.[one.ownAnnotation] !== 'true')
      .map((object) => `${one.kind} ${nameOf(object)}`);
  } catch (error) {
    // An older release that is emulated does not serve every kind.
    if (hasStatusReason(error, 'NotFound')) return [];
    throw error;
  }
};

/** Objects that somebody relies on, and that nothing acts upon. */
export const unenforcedObjects: CheckItem = {
  id: 'unenforcedObjects',
  async measure(look) {
    const found = (await Promise.all(UNENFORCED.map((one) => listed(look, one)))).flat();
    if (found.length === 0) return ok(say('found.unenforcedObjects.ok'));
    return warn(
      say('found.unenforcedObjects.some', { objects: someOf(found) }),
      say('advice.unenforcedObjects'),
    );
  },
};
