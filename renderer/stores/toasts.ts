import { defineStore } from 'pinia';
import { computed, shallowRef } from 'vue';
import type { Severity } from '../../core/contract/index.ts';
import { useNotificationStore } from './notifications.ts';

export const TOASTS_SHOWN_MAX = 3;
export const TOAST_SUCCESS_MS = 6_000;
/** Time to read a warning, or to take a change back. */
export const TOAST_LONG_MS = 12_000;

/** The way back from what a toast reports. */
export interface ToastAction {
  readonly label: string;
  run(): void;
}

/** Result, object, way back. */
export interface ToastContent {
  readonly severity: Severity;
  readonly title: string;
  readonly detail?: string | undefined;
  readonly action?: ToastAction;
  /** The recorded action that its way back undoes: the toast leaves once that is done, from wherever it was asked. */
  readonly undoes?: number;
}

export interface Toast extends ToastContent {
  readonly id: number;
}

/** Warnings are kept behind the bell, so they may leave; errors stay until closed. */
export const toastDurationMs = ({ severity, action }: ToastContent): number => {
  if (severity === 'error') return Infinity;
  return severity === 'warn' || action ? TOAST_LONG_MS : TOAST_SUCCESS_MS;
};

const isKept = ({ severity }: ToastContent): boolean => severity === 'error' || severity === 'warn';

export const useToastStore = defineStore('toasts', () => {
  const shown = shallowRef<readonly Toast[]>([]);
  const notifications = useNotificationStore();
  let lastId = 0;

  const close = (id: number): void => {
    shown.value = shown.value.filter((toast) => toast.id !== id);
  };

  /** What offers to undo this action has nothing left to offer. */
  const closeUndo = (action: number): void => {
    shown.value = shown.value.filter(({ undoes }) => undoes !== action);
  };

  /** Shows what is already in the list behind the bell. */
  const present = (content: ToastContent): number => {
    const id = (lastId += 1);
    // The same thing said again replaces what was said before.
    let room = shown.value.filter(
      (toast) => toast.title !== content.title || toast.detail !== content.detail,
    );
    while (room.length >= TOASTS_SHOWN_MAX) {
      const leaving = room.find((toast) => toast.severity !== 'error') ?? room[0];
      room = room.filter((toast) => toast !== leaving);
    }
    const { severity, title, detail, action, undoes } = content;
    shown.value = [
      ...room,
      {
        id,
        severity,
        title,
        ...(detail && { detail }),
        ...(action && { action }),
        ...(undoes !== undefined && { undoes }),
      },
    ];
    return id;
  };

  /** Errors and warnings are also kept in that list, so one that leaves is not lost. */
  const show = (content: ToastContent): number => {
    const id = present(content);
    if (isKept(content)) {
      const { severity, title, detail } = content;
      notifications.record({
        id: `console-${id}`,
        severity,
        title,
        ...(detail && { detail }),
        atMs: Date.now(),
      });
    }
    return id;
  };

  /** The newest one with a way back: F9 takes it. */
  const undoable = computed(() => shown.value.findLast(({ action }) => action !== undefined));
  /** False: none of those shown has a way back. */
  const undoNewest = (): boolean => {
    const toast = undoable.value;
    if (!toast) return false;
    close(toast.id);
    toast.action?.run();
    return true;
  };

  return { shown, show, present, close, closeUndo, undoable, undoNewest };
});
