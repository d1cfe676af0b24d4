import { conflict, type KubernetesObject } from '../../../api/meta/index.ts';
import { fillZeroValues } from '../../../api/schema/index.ts';
import { CachedObject } from '../../storage/watch-cache/cached-object.ts';
import type { StoredValue } from '../../storage/store.ts';
import type { Held, Scope } from '../rest-storage.ts';
import type { GenericStore } from './generic-store.ts';
import { draftOf, metaOf } from './metadata.ts';
import { fromStorage } from './storage-errors.ts';

export interface Mutation {
  readonly dryRun: boolean;
  readonly preconditions?:
    { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined } | undefined;
  /**
   * Changes the draft, or answers `keep` where nothing is to change. Called again when the object changed meanwhile;
   * what it throws ends the write.
   */
  change(draft: KubernetesObject): void | 'keep' | Promise<void | 'keep'>;
}

/** A write of the server's own, beside strategy and validation: bindings, the phase of a namespace, a charged budget. */
export const mutate = async (
  { core, reads }: GenericStore,
  scope: Pick<Scope, 'namespace'>,
  name: string,
  mutation: Mutation,
): Promise<Held> => {
  const { codec, store, resource } = core;
  const key = core.key(scope.namespace, name);
  let draft: KubernetesObject | undefined;
  const transform = async (current: StoredValue): Promise<Uint8Array | 'keep'> => {
    const { object } = reads.heldOf(current);
    const { uid = '', resourceVersion = '' } = object.metadata ?? {};
    const wanted = mutation.preconditions;
    if (wanted?.uid !== undefined && wanted.uid !== uid)
      throw conflict(
        resource,
        name,
        `Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${uid}`,
      );
    if (wanted?.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion)
      throw conflict(
        resource,
        name,
        `Precondition failed: ResourceVersion in precondition: ${wanted.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`,
      );
    const next = draftOf(object);
    draft = undefined;
    if ((await mutation.change(next)) === 'keep') return 'keep';
    draft = next;
    // All that is kept is filled: later drafts share its parts and must find nothing to fill.
    if (core.struct) fillZeroValues(core.struct, next);
    return codec.encode(next);
  };
  try {
    if (mutation.dryRun) {
      const current = await store.get(key);
      const value = await transform(current);
      if (value === 'keep' || draft === undefined) return reads.heldOf(current);
      metaOf(draft).resourceVersion = String(current.revision);
      return new CachedObject(key, value, current.revision, draft);
    }
    const written = await store.guaranteedUpdate(key, {
      cached: core.cacheIfStarted?.peek(key),
      transform: async (current) => {
        const value = await transform(current!);
        return value === 'keep' ? 'keep' : { value };
      },
    });
    return draft === undefined
      ? reads.heldOf(written)
      : codec.written(key, written.value, written.revision, draft);
  } catch (error) {
    throw fromStorage(error, 'update', resource, name);
  }
};
