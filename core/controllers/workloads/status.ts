import { isConflict } from '../../api/meta/status.ts';
import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { canonicalJson, type Client, type Kind, type Stored } from '../../client/index.ts';

/**
 * A status as it travels: counts of zero and empty lists are left out, as upstream's encoding does, except those named,
 * whose zero says more than their absence.
 */
export const compactStatus = <S extends object>(status: S, keep: readonly (keyof S & string)[]): S =>
  Object.fromEntries(
    Object.entries(status).filter(
      ([key, value]) =>
        value !== undefined &&
        ((keep as readonly string[]).includes(key) ||
          (value !== 0 && value !== '' && !(Array.isArray(value) && value.length === 0))),
    ),
  ) as S;

export const sameStatus = <S extends object>(
  a: S | undefined,
  b: S,
  keep: readonly (keyof S & string)[],
): boolean => canonicalJson(compactStatus(a ?? ({} as S), keep)) === canonicalJson(compactStatus(b, keep));

/**
 * Writes a status; once more onto the present object when the cached one was old. The status says itself which
 * generation it speaks of, so that it can be put on a newer one.
 */
export const writeStatus = async <T extends KubernetesObject>(
  client: Client,
  kind: Kind<T>,
  object: Stored<T>,
  status: object,
): Promise<Stored<T>> => {
  const resource = client.resource(kind, object.metadata.namespace);
  try {
    return await resource.updateStatus({ ...object, status });
  } catch (error) {
    if (!isConflict(error)) throw error;
    const fresh = await resource.get(object.metadata.name);
    if (fresh.metadata.uid !== object.metadata.uid) throw error;
    return resource.updateStatus({ ...fresh, status });
  }
};
