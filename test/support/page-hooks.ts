import type { Page } from 'playwright-core';

/** Holds back requests of the page that delete, but for the first ones, as a slow server does. A reload forgets it. */
export const holdDeletes = async (page: Page, passed: number): Promise<() => Promise<void>> => {
  await page.evaluate((count) => {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the socket below
    const { send } = WebSocket.prototype;
    const held: (() => void)[] = [];
    let left = count;
    WebSocket.prototype.send = function (this: WebSocket, data) {
      const isHeld = String(data).includes('"method":"DELETE"') && (left -= 1) < 0;
      if (isHeld) held.push(() => send.call(this, data));
      else send.call(this, data);
    };
    const release = (): void => {
      WebSocket.prototype.send = send;
      for (const run of held.splice(0)) run();
    };
    Object.assign(window, { releaseDeletes: release });
  }, passed);
  return () => page.evaluate(() => (window as unknown as { releaseDeletes(): void }).releaseDeletes());
};

/** Half a minute later, without the wait: runs what the page has set for then. A reload forgets it. */
export const keepHalfMinute = async (page: Page): Promise<() => Promise<void>> => {
  await page.evaluate(() => {
    const set = window.setTimeout.bind(window);
    const due: (() => void)[] = [];
    const keep = (run: () => void, ms?: number): number => {
      if (ms === 30_000) due.push(run);
      return set(run, ms);
    };
    Object.assign(window, { setTimeout: keep, halfMinuteLater: () => due.splice(0).forEach((run) => run()) });
  });
  return () => page.evaluate(() => (window as unknown as { halfMinuteLater(): void }).halfMinuteLater());
};
