import { forbidden } from '../../../api/meta/index.ts';
import { isQualifiedName } from '../../../api/field/formats.ts';
import { sameValue } from '../../../api/validation/read.ts';
import { metaOf } from '../../registry/generic/metadata.ts';
import type { Draft, Strategy, WriteContext } from '../../registry/generic/strategy.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { CustomResource, CustomVersion } from './custom-resource.ts';

const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);
const PREFER = 'prefer a domain-qualified finalizer name';
const AVOID = 'to avoid accidental conflicts with other finalizer writers';

const finalizerWarnings = (name: string): string[] => {
  const at = 'metadata.finalizers: ';
  const shown = JSON.stringify(name);
  const wrong = isQualifiedName(name).map((message) => `${at}${shown}: ${message}`);
  if (name.includes('/') || STANDARD_FINALIZERS.has(name)) return wrong;
  const how = name.includes('.') ? `${PREFER} including a path (/) ${AVOID}` : `${PREFER} ${AVOID}`;
  return [...wrong, `${at}${shown}: ${how}`];
};

const warnOfFinalizers = (draft: Draft, old: KubernetesObject | undefined, context: WriteContext): void => {
  const known = new Set(old?.metadata?.finalizers ?? []);
  for (const name of [...new Set(draft.metadata?.finalizers ?? [])].sort())
    if (!known.has(name)) for (const warning of finalizerWarnings(name)) context.warn(warning);
};

/** Whether anything beside metadata differs. */
const isChanged = (draft: Draft, old: KubernetesObject): boolean => {
  const names = new Set([...Object.keys(draft), ...Object.keys(old)]);
  names.delete('metadata');
  for (const name of names) if (!sameValue(draft[name], old[name])) return true;
  return false;
};

/** `resource` is asked when it counts: a definition may begin to terminate while its store is in use. */
export const customStrategy = (resource: () => CustomResource, { hasStatus }: CustomVersion): Strategy => ({
  allowUnconditionalUpdate: false,
  ...(hasStatus && { resetFields: [['status']] }),
  prepareForCreate(draft, context) {
    if (hasStatus) delete draft['status'];
    metaOf(draft).generation = 1;
    warnOfFinalizers(draft, undefined, context);
  },
  prepareForUpdate(draft, old, context) {
    if (hasStatus) {
      if (old['status'] === undefined) delete draft['status'];
      else draft['status'] = old['status'];
    }
    const meta = metaOf(draft);
    if (isChanged(draft, old)) meta.generation = (old.metadata?.generation ?? 0) + 1;
    warnOfFinalizers(draft, old, context);
  },
  async checkCreate(draft) {
    const { group, names, isTerminating } = resource();
    if (isTerminating)
      throw forbidden(
        { group, resource: names.plural },
        draft.metadata?.name ?? '',
        'create not allowed while custom resource definition is terminating',
      );
  },
});

/** `/status` writes the status, and notes who did; everything else stays. */
export const customStatusStrategy: Strategy = {
  allowUnconditionalUpdate: false,
  subresource: 'status',
  resetFields: [['metadata'], ['spec']],
  prepareForUpdate(draft, old) {
    const status = draft['status'];
    const managedFields = draft.metadata?.managedFields;
    for (const name of Object.keys(draft)) delete draft[name];
    Object.assign(draft, old);
    const { managedFields: _old, ...metadata } = old.metadata ?? {};
    draft.metadata = { ...metadata, ...(managedFields && { managedFields }) };
    if (status === undefined) delete draft['status'];
    else draft['status'] = status;
  },
};
