import { hasStatusReason, type KubernetesObject } from '../../../api/meta/index.ts';
import { UNENFORCED, type UnenforcedResource } from '../../../api/scheme/index.ts';
import { ok, warn, type CheckItem } from '../item.ts';
import type { Look } from '../look.ts';

/** Enough to name some; more of a kind are not read. */
const OBJECTS_PER_KIND_MAX = 500;
const NAMED_MAX = 5;

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
  title: 'All stored objects are enforced',
  async measure(look) {
    const found = (await Promise.all(UNENFORCED.map((one) => listed(look, one)))).flat();
    if (found.length === 0) return ok('no objects of kinds that this cluster does not enforce');
    const rest = found.length > NAMED_MAX ? ` and ${found.length - NAMED_MAX} more` : '';
    return warn(
      `stored but not enforced: ${found.slice(0, NAMED_MAX).join(', ')}${rest}`,
      'do not rely on them; delete them, or enforce them by other means',
    );
  },
};
