import { onScopeDispose, watch } from 'vue';
import { usePageVisible } from './usePageVisible.ts';

/**
 * Runs work now and again that long after it ended, while the page is visible. What is asked for by `hurry`
 * runs immediately, unless it runs already.
 */
export const usePoll = (work: () => Promise<void>, pauseMs: number): { hurry(): void } => {
  const visible = usePageVisible();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let isOver = false;

  const run = async (): Promise<void> => {
    clearTimeout(timer);
    if (isRunning || isOver || !visible.value) return;
    isRunning = true;
    try {
      await work();
    } finally {
      isRunning = false;
      if (!isOver && visible.value) timer = setTimeout(() => void run(), pauseMs);
    }
  };
  watch(
    visible,
    (isVisible) => {
      if (isVisible) void run();
      else clearTimeout(timer);
    },
    { immediate: true },
  );
  onScopeDispose(() => {
    isOver = true;
    clearTimeout(timer);
  });
  return { hurry: () => void run() };
};
