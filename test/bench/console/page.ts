import type { CDPSession, Page } from 'playwright-core';

const LIST_LIMIT_MS = 120_000;

/** From the click on a page of the console to the first frame that shows the list, all of it read. */
export const openList = (page: Page, hash: string, count: number): Promise<number> =>
  page.evaluate(
    ([address, rows, limitMs]) =>
      new Promise<number>((resolve, reject) => {
        const startedMs = performance.now();
        const look = (): void => {
          const grid = document.querySelector('[role="grid"]');
          const isRead = grid?.getAttribute('aria-rowcount') === String(rows + 1);
          const took = performance.now() - startedMs;
          if (isRead && grid.querySelector('.row')) resolve(took);
          else if (took > limitMs) reject(new Error(`no list of ${rows} rows within ${limitMs} ms`));
          else requestAnimationFrame(look);
        };
        window.location.hash = address;
        requestAnimationFrame(look);
      }),
    [hash, count, LIST_LIMIT_MS] as const,
  );

export interface Frames {
  /** Frames that were drawn, a second. */
  readonly perSecond: number;
  /** Of those that a screen of 60 Hz would have shown. */
  readonly droppedPercent: number;
  readonly worstGapMs: number;
  /** Time of tasks that took longer than a person notices (50 ms), a second. */
  readonly longTaskMsPerSecond: number;
}

/** Counts frames for so long, while the list is scrolled by so many pixels each or stands still. */
export const countFrames = (page: Page, spanMs: number, scrollPx = 0): Promise<Frames> =>
  page.evaluate(
    ([limitMs, stepPx]) =>
      new Promise<Frames>((resolve) => {
        const frameMs = 1000 / 60;
        let longMs = 0;
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) longMs += entry.duration;
        });
        observer.observe({ type: 'longtask' });
        const grid = document.querySelector('[role="grid"]');
        const startedMs = performance.now();
        let beforeMs = startedMs;
        let frames = 0;
        let dropped = 0;
        let worstGapMs = 0;
        const look = (): void => {
          const now = performance.now();
          const gapMs = now - beforeMs;
          beforeMs = now;
          frames += 1;
          worstGapMs = Math.max(worstGapMs, gapMs);
          dropped += Math.max(0, Math.round(gapMs / frameMs) - 1);
          if (grid && stepPx !== 0)
            grid.scrollTop = (grid.scrollTop + stepPx) % (grid.scrollHeight - grid.clientHeight);
          const seconds = (now - startedMs) / 1000;
          if (now - startedMs < limitMs) return void requestAnimationFrame(look);
          observer.disconnect();
          resolve({
            perSecond: frames / seconds,
            droppedPercent: (dropped / (frames + dropped)) * 100,
            worstGapMs,
            longTaskMsPerSecond: longMs / seconds,
          });
        };
        requestAnimationFrame(look);
      }),
    [spanMs, scrollPx] as const,
  );

/** From a letter in the filter to the frame that shows what it left. */
export const typeFilter = (page: Page, text: string): Promise<number> =>
  page.evaluate(
    (typed) =>
      new Promise<number>((resolve) => {
        const input = document.querySelector<HTMLInputElement>('.toolbar input')!;
        const startedMs = performance.now();
        input.value = typed;
        input.dispatchEvent(new Event('input', { bubbles: true }));
        // Two frames: the first draws, the second is after it was drawn.
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - startedMs)));
      }),
    text,
  );

/**
 * Types into the open palette: first what starts the search, until every object was read, then letter by letter. Each
 * letter counts until the frame after the one that shows its results.
 */
export const typePalette = async (
  page: Page,
  first: string,
  letters: string,
): Promise<{ readonly readMs: number; readonly letters: number[]; readonly objects: string }> => {
  await page.getByRole('combobox').waitFor();
  const startedMs = performance.now();
  await page.keyboard.type(first);
  const done = page.getByText(/objects searched$/);
  await done.waitFor({ timeout: LIST_LIMIT_MS });
  const readMs = performance.now() - startedMs;
  const objects = ((await done.textContent()) ?? '').replace(/ objects.*/, '').trim();
  const took = await page.evaluate(async (text) => {
    const input = document.querySelector<HTMLInputElement>('[role="combobox"]')!;
    const spans: number[] = [];
    for (const letter of text) {
      const fromMs = performance.now();
      input.value += letter;
      input.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise<void>((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => resolve())),
      );
      spans.push(performance.now() - fromMs);
    }
    return spans;
  }, letters);
  return { readMs, letters: took, objects };
};

const BYTES_PER_MIB = 2 ** 20;

/** What scripts of the page hold once everything that can be thrown away is. */
export const heapMib = async (session: CDPSession): Promise<number> => {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / BYTES_PER_MIB;
};
