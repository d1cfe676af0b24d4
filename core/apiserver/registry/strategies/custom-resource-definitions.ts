import { conflict, formatTime, type KubernetesObject } from '../../../api/meta/index.ts';
import { unrecognizedFormats } from '../../../api/validation/kinds/schema-formats.ts';
import { obj, objs, str, strs } from '../../../api/validation/read.ts';
import { GenericStore } from '../generic/generic-store.ts';
import { metaOf } from '../generic/metadata.ts';
import { mutate } from '../generic/mutate.ts';
import { checkPreconditions } from '../generic/object-deletes.ts';
import type { Draft, Strategy, WriteContext } from '../generic/strategy.ts';
import type { Deleted, DeleteOptions, Scope } from '../rest-storage.ts';

/** Taken off when all instances of a definition are deleted. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

const TERMINATING = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
} as const;

/** Every version that objects may be stored in is remembered until somebody has rewritten them all. */
const rememberStoredVersion = (draft: Draft): void => {
  const storage = objs(obj(draft, 'spec'), 'versions').find((version) => version['storage'] === true);
  if (storage === undefined) return;
  const status = obj(draft, 'status');
  const known = strs(status, 'storedVersions');
  const name = str(storage, 'name');
  if (!known.includes(name)) draft['status'] = { ...status, storedVersions: [...known, name] };
};

/** Definitions go in two steps: first Terminating, while their instances are deleted, then gone. */
export class DefinitionStore extends GenericStore {
  override async delete(scope: Scope, name: string, options: DeleteOptions): Promise<Deleted> {
    const found = await this.get(scope, name, { resourceVersion: '' });
    if (found.object.metadata?.deletionTimestamp !== undefined) return super.delete(scope, name, options);
    const { resource } = this.core;
    checkPreconditions(found.object, options, (why) => conflict(resource, name, why));
    const { uid } = found.object.metadata ?? {};
    const held = await mutate(this, scope, name, {
      dryRun: options.dryRun,
      preconditions: { ...options.preconditions, uid },
      change: async (draft) => {
        await options.validate(draft);
        const meta = metaOf(draft);
        const now = formatTime(this.core.clock.nowMs());
        meta.deletionTimestamp ??= now;
        if (!meta.finalizers?.includes(CLEANUP_FINALIZER))
          meta.finalizers = [...(meta.finalizers ?? []), CLEANUP_FINALIZER];
        const status = obj(draft, 'status');
        const others = objs(status, 'conditions').filter(({ type }) => type !== TERMINATING.type);
        draft['status'] = {
          ...status,
          conditions: [...others, { ...TERMINATING, lastTransitionTime: now }],
        };
      },
    });
    return { held, isGone: false };
  }
}

/** Who writes a format that nothing checks is told, once for each that is new. */
const warnOfFormats = (draft: Draft, old: KubernetesObject | undefined, context: WriteContext): void => {
  const known = old && unrecognizedFormats(old);
  for (const format of unrecognizedFormats(draft))
    if (known?.has(format) !== true) context.warn(`unrecognized format ${JSON.stringify(format)}`);
};

export const definitionStrategy: Strategy = {
  prepareForCreate(draft, context) {
    rememberStoredVersion(draft);
    warnOfFormats(draft, undefined, context);
  },
  prepareForUpdate(draft, old, context) {
    rememberStoredVersion(draft);
    warnOfFormats(draft, old, context);
  },
};
