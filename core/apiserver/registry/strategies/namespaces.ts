import { conflict, formatTime, type ObjectMeta } from '../../../api/meta/index.ts';
import { obj, strs } from '../../../api/validation/read.ts';
import { GenericStore } from '../generic/generic-store.ts';
import { metaOf } from '../generic/metadata.ts';
import { mutate } from '../generic/mutate.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../generic/object-deletes.ts';
import type { Draft, Strategy } from '../generic/strategy.ts';
import { scopeIn, type Deleted, type DeleteOptions, type Scope } from '../rest-storage.ts';
import { restore } from './spec-status.ts';

/** Taken off by the namespace controller when nothing is left inside. */
const KUBERNETES_FINALIZER = 'kubernetes';
const NAME_LABEL = 'kubernetes.io/metadata.name';
const RESOURCE = { group: '', resource: 'namespaces' };

const specFinalizers = (namespace: Draft): readonly string[] => strs(obj(namespace, 'spec'), 'finalizers');

const labelWithName = (draft: Draft): void => {
  const meta = metaOf(draft);
  meta.labels = { ...meta.labels, [NAME_LABEL]: meta.name ?? '' };
};

const mayDeleteDuringUpdate = (draft: Draft): boolean => specFinalizers(draft).length === 0;

export const namespaceStrategy: Strategy = {
  returnsDeletedObject: true,
  resetFields: [['status']],
  mayDeleteDuringUpdate,
  prepareForCreate(draft) {
    const finalizers = specFinalizers(draft);
    draft['spec'] = {
      ...obj(draft, 'spec'),
      finalizers: finalizers.includes(KUBERNETES_FINALIZER)
        ? finalizers
        : [...finalizers, KUBERNETES_FINALIZER],
    };
    draft['status'] = { phase: 'Active' };
    labelWithName(draft);
  },
  prepareForUpdate(draft, old) {
    const spec = { ...obj(draft, 'spec') };
    restore(spec, obj(old, 'spec'), 'finalizers');
    draft['spec'] = spec;
    restore(draft, old, 'status');
    labelWithName(draft);
  },
};

/** `/finalize` writes `spec.finalizers`; the last one off deletes the namespace. */
export const namespaceFinalizeStrategy: Strategy = {
  subresource: 'finalize',
  resetFields: [['status']],
  mayDeleteDuringUpdate,
  prepareForUpdate(draft, old) {
    restore(draft, old, 'status');
    labelWithName(draft);
  },
};

const wantedFinalizers = (meta: ObjectMeta, options: DeleteOptions): string[] => {
  const { orphanDependents, propagationPolicy } = options;
  const has = meta.finalizers ?? [];
  const orphan =
    orphanDependents ??
    (propagationPolicy === undefined ? has.includes(ORPHAN_FINALIZER) : propagationPolicy === 'Orphan');
  const foreground =
    orphanDependents !== undefined
      ? !orphanDependents
      : propagationPolicy === undefined
        ? has.includes(FOREGROUND_FINALIZER)
        : propagationPolicy === 'Foreground';
  return [
    ...has.filter((name) => name !== ORPHAN_FINALIZER && name !== FOREGROUND_FINALIZER),
    ...(orphan ? [ORPHAN_FINALIZER] : []),
    ...(foreground ? [FOREGROUND_FINALIZER] : []),
  ];
};

/** Namespaces go in two steps: first Terminating, while the controller empties them, then gone. */
export class NamespaceStore extends GenericStore {
  override async delete(scope: Scope, name: string, options: DeleteOptions): Promise<Deleted> {
    const within = scopeIn(scope, '');
    const found = await this.get(within, name, { resourceVersion: '' });
    const { uid = '', resourceVersion = '', deletionTimestamp } = found.object.metadata ?? {};
    const wanted = options.preconditions ?? {};
    if (wanted.uid !== undefined && wanted.uid !== uid)
      throw conflict(
        RESOURCE,
        name,
        `Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${uid}`,
      );
    if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion)
      throw conflict(
        RESOURCE,
        name,
        `Precondition failed: ResourceVersion in precondition: ${wanted.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`,
      );
    const preconditions = { ...wanted, uid };
    if (deletionTimestamp === undefined) {
      const held = await mutate(this, within, name, {
        dryRun: options.dryRun,
        preconditions,
        change: async (draft) => {
          await options.validate(draft);
          const meta = metaOf(draft);
          meta.deletionTimestamp ??= formatTime(this.core.clock.nowMs());
          draft['status'] = { ...obj(draft, 'status'), phase: 'Terminating' };
          const finalizers = wantedFinalizers(meta, options);
          if (finalizers.length > 0) meta.finalizers = finalizers;
          else delete meta.finalizers;
        },
      });
      return { held, isGone: false };
    }
    if (specFinalizers(found.object).length > 0) return { held: found, isGone: false };
    return super.delete(within, name, { ...options, preconditions });
  }
}
