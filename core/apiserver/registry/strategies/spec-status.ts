import type { KubernetesObject, ObjectMeta } from '../../../api/meta/index.ts';
import { sameValue } from '../../../api/validation/read.ts';
import { metaOf } from '../generic/metadata.ts';
import type { Draft, Strategy } from '../generic/strategy.ts';

/** What most kinds have in common: clients write the spec, controllers the status, and the generation counts specs. */
export interface SpecStatusOptions {
  /** The kind has a status that only `/status` writes. */
  readonly hasStatus?: boolean;
  /** The status of a new object; absent: none but what its type writes when empty. */
  readonly initialStatus?: (nowMs: number) => Record<string, unknown>;
  /** Top-level fields whose change makes a new generation; absent: the kind counts none. */
  readonly generationOf?: readonly string[];
  /** Labels or annotations that count as well. */
  readonly generationOfMeta?: readonly ('labels' | 'annotations')[];
  /** `/status` leaves these as they are, beside the spec. */
  readonly statusKeeps?: readonly ('labels' | 'annotations' | 'finalizers' | 'ownerReferences')[];
}

/** Puts back what is there, or takes away what is not. */
export const restore = (
  draft: Record<string, unknown>,
  old: Record<string, unknown>,
  field: string,
): void => {
  if (old[field] === undefined) delete draft[field];
  else draft[field] = old[field];
};

const restoreMeta = (
  meta: ObjectMeta,
  old: ObjectMeta,
  fields: readonly ('labels' | 'annotations' | 'finalizers' | 'ownerReferences')[],
): void => {
  for (const field of fields) restore(meta as Record<string, unknown>, old as Record<string, unknown>, field);
};

export const ALL_STATUS_META = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

export const countGeneration = (
  draft: Draft,
  old: KubernetesObject,
  { generationOf, generationOfMeta = [] }: SpecStatusOptions,
): void => {
  if (generationOf === undefined) return;
  const meta = metaOf(draft);
  const oldMeta = old.metadata ?? {};
  const changed =
    generationOf.some((field) => !sameValue(draft[field], old[field])) ||
    generationOfMeta.some((field) => !sameValue(meta[field], oldMeta[field]));
  if (changed) meta.generation = (oldMeta.generation ?? 0) + 1;
};

export const specStrategy = (options: SpecStatusOptions, own: Strategy = {}): Strategy => ({
  ...(options.hasStatus && { resetFields: [['status']] }),
  ...own,
  prepareForCreate(draft, context) {
    if (options.generationOf) metaOf(draft).generation = 1;
    if (options.hasStatus) {
      if (options.initialStatus) draft['status'] = options.initialStatus(context.nowMs);
      else delete draft['status'];
    }
    own.prepareForCreate?.(draft, context);
  },
  prepareForUpdate(draft, old, context) {
    if (options.hasStatus) restore(draft, old, 'status');
    own.prepareForUpdate?.(draft, old, context);
    countGeneration(draft, old, options);
  },
});

/** Writes through `/status`: everything beside the status and most of the metadata stays. */
export const statusStrategy = (
  parent: Strategy,
  options: SpecStatusOptions,
  own: Strategy = {},
): Strategy => ({
  ...(parent.allowUnconditionalUpdate !== undefined && {
    allowUnconditionalUpdate: parent.allowUnconditionalUpdate,
  }),
  ...(parent.mayDeleteDuringUpdate && { mayDeleteDuringUpdate: parent.mayDeleteDuringUpdate }),
  ...(parent.afterDelete && { afterDelete: parent.afterDelete }),
  resetFields: [['spec'], ...(options.statusKeeps ?? []).map((field) => ['metadata', field])],
  subresource: 'status',
  ...own,
  prepareForUpdate(draft, old, context) {
    for (const field of new Set([...Object.keys(draft), ...Object.keys(old)]))
      if (!['status', 'metadata', 'kind', 'apiVersion'].includes(field)) restore(draft, old, field);
    restoreMeta(metaOf(draft), old.metadata ?? {}, options.statusKeeps ?? []);
    own.prepareForUpdate?.(draft, old, context);
  },
});
