import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { FieldLookup, FieldSelector, LabelSelector } from '../../../api/selector/index.ts';
import { CachedObject, type CacheEvent } from '../../storage/watch-cache/cached-object.ts';
import type { Held } from '../rest-storage.ts';

/** Which objects a list or a watch shows. */
export interface Selection {
  readonly isEverything: boolean;
  matches(object: KubernetesObject): boolean;
}

export interface Selectors {
  readonly labelSelector: LabelSelector;
  readonly fieldSelector: FieldSelector;
}

const NO_LABELS = {};

/** `fieldsOf` finds the fields of objects as they are kept. */
export const selectionOf = (
  fieldsOf: (object: KubernetesObject) => FieldLookup,
  { labelSelector, fieldSelector }: Selectors,
): Selection => ({
  isEverything: labelSelector.isEmpty && fieldSelector.isEmpty,
  matches: (object) =>
    (labelSelector.isEmpty || labelSelector.matches(object.metadata?.labels ?? NO_LABELS)) &&
    (fieldSelector.isEmpty || fieldSelector.matches(fieldsOf(object))),
});

export interface SelectedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly held: Held;
}

const left = new WeakMap<CacheEvent<KubernetesObject>, Held>();

/** Who leaves the view is told as deleted: as it was, at the revision of the change. Made once an event. */
const lastSeen = (event: CacheEvent<KubernetesObject>, previous: Held): Held => {
  const known = left.get(event);
  if (known !== undefined) return known;
  const { object } = previous;
  const held = new CachedObject(event.key, previous.value, event.revision, {
    ...object,
    metadata: { ...object.metadata, resourceVersion: String(event.revision) },
  });
  left.set(event, held);
  return held;
};

/** What an event means to who sees only a selection: undefined is nothing. */
export const eventFor = (
  selection: Selection,
  event: CacheEvent<KubernetesObject>,
): SelectedEvent | undefined => {
  const { type, current, previous } = event;
  if (selection.isEverything) return { type, held: current };
  if (type === 'DELETED')
    return selection.matches((previous ?? current).object) ? { type, held: current } : undefined;
  const is = selection.matches(current.object);
  const was = previous !== undefined && selection.matches(previous.object);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', held: current };
  return was ? { type: 'DELETED', held: lastSeen(event, previous) } : undefined;
};
