import { defineStore } from 'pinia';
import { shallowRef } from 'vue';
import type { UndoStep } from '../kinds/undo.ts';
import { readRemembered, remember } from './remembered.ts';
import { useToastStore } from './toasts.ts';
import { useUndoStore } from './undo.ts';

export const ACTIONS_MAX = 200;
const STORAGE_KEY = 'pilothouse.actions';

export interface DoneAction {
  readonly id: number;
  readonly atMs: number;
  readonly cluster: string;
  readonly title: string;
  /** The line that does the same; empty: there is none. */
  readonly command: string;
  readonly isUndone: boolean;
}

interface Kept {
  readonly action: DoneAction;
  /** Empty: it cannot be taken back, or not any more. */
  readonly undo: readonly UndoStep[];
}

const isAction = (value: unknown): value is DoneAction => {
  const one = (value ?? {}) as Partial<Record<keyof DoneAction, unknown>>;
  return (
    typeof one.id === 'number' &&
    typeof one.atMs === 'number' &&
    typeof one.cluster === 'string' &&
    typeof one.title === 'string' &&
    typeof one.command === 'string' &&
    typeof one.isUndone === 'boolean'
  );
};

const read = (): Kept[] => {
  try {
    const stored: unknown = JSON.parse(readRemembered(STORAGE_KEY) ?? '[]');
    const actions = Array.isArray(stored) ? stored.filter(isAction).slice(0, ACTIONS_MAX) : [];
    return actions.map((action) => ({ action, undo: [] }));
  } catch {
    // Written by hand or cut off: what cannot be read is not worth a message.
    return [];
  }
};

/**
 * What a person did in this console, newest first. It outlives the window, but what takes an action back does not: that
 * holds objects, Secrets among them, which are not written to disk.
 */
export const useActionHistory = defineStore('action-history', () => {
  const kept = shallowRef<readonly Kept[]>(read());
  const undoStore = useUndoStore();
  const toasts = useToastStore();
  /** The action that was the last apply; it outlives the editor's page. */
  const lastApply = shallowRef<number>();

  const become = (next: readonly Kept[]): void => {
    kept.value = next.slice(0, ACTIONS_MAX);
    remember(STORAGE_KEY, JSON.stringify(kept.value.map(({ action }) => action)));
  };
  const record = (done: Omit<DoneAction, 'id' | 'atMs' | 'isUndone'> & Pick<Kept, 'undo'>): number => {
    const { undo, ...rest } = done;
    const id = Math.max(0, ...kept.value.map(({ action }) => action.id)) + 1;
    become([{ action: { ...rest, id, atMs: Date.now(), isUndone: false }, undo }, ...kept.value]);
    return id;
  };
  const canUndo = (id: number | undefined, cluster: string | undefined): boolean =>
    kept.value.some(
      ({ action, undo: steps }) => action.id === id && action.cluster === cluster && steps.length > 0,
    );
  /** Reports itself what could not be taken back. */
  const undo = async (id: number): Promise<void> => {
    const found = kept.value.find(({ action }) => action.id === id);
    if (!found || found.undo.length === 0) return;
    // First: a second click must not send it twice.
    become(
      kept.value.map((one) =>
        one === found ? { action: { ...one.action, isUndone: true }, undo: [] } : one,
      ),
    );
    toasts.closeUndo(id);
    await undoStore.undo(found.action.cluster, found.undo);
  };
  const clear = (): void => become([]);
  return { kept, lastApply, record, canUndo, undo, clear };
});
