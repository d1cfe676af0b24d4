import type { Page } from 'playwright-core';
import type { PreloadBridge } from '../../renderer/bridge/window.d.ts';

declare global {
  interface Window {
    readonly pilothouse?: PreloadBridge;
  }
}

/** Far above what the page's own client counts to. */
const FIRST_ID = 1_000_000;
let lastId = FIRST_ID;

/** Sends one raw message from the page and resolves with the first answer to its id. */
export const askRaw = (page: Page, message: Record<string, unknown>): Promise<unknown> =>
  page.evaluate(
    (sent) =>
      new Promise((resolve) => {
        const bridge = window.pilothouse!;
        const stop = bridge.listen((answer) => {
          if ((answer as { id?: number }).id !== sent['id']) return;
          stop();
          resolve(answer);
        });
        bridge.send(sent);
      }),
    { id: (lastId += 1), ...message },
  );

export const callFromPage = (page: Page, name: string, input?: unknown): Promise<unknown> =>
  askRaw(page, { kind: 'call', name, input });
