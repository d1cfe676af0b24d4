import type { IpcMain, IpcMainEvent, WebContents, WebFrameMain } from 'electron';
import { toDisposable, type Disposable } from '../../core/base/disposable.ts';
import type { Log } from '../../core/base/log.ts';
import { CLIENT_CHANNEL, HOST_CHANNEL } from '../../core/contract/channels.ts';
import { serveConnection, type Handlers, type HostConnection } from '../../core/contract/index.ts';
import { CONSOLE_ORIGIN } from './console-address.ts';
import { isLargerThan } from './message-size.ts';
import { whyRefused } from './sender.ts';

/** Above what the largest object of a cluster (1.5 MiB in etcd) takes as text in an editor. */
export const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;

/** Refusals are logged up to this many; a hostile page must not fill the disk. */
const REFUSALS_LOGGED_MAX = 100;

export interface ElectronBridge extends Disposable {
  /** Lets the pages of this window speak the contract until the window is gone. */
  attach(contents: WebContents, handlers: Handlers): void;
  /** Streams open now over all windows. */
  readonly openStreamCount: number;
  /** Messages that were not heard because of who sent them. */
  readonly refusedCount: number;
}

interface Attached {
  readonly handlers: Handlers;
  connection: HostConnection | undefined;
}

/** The contract over Electron's IPC: one connection a page, closed when the page goes. */
export const createElectronBridge = (ipc: IpcMain, log: Log): ElectronBridge => {
  const attached = new Map<number, Attached>();
  let refusedCount = 0;

  const connectTo = (frame: WebFrameMain, handlers: Handlers): HostConnection =>
    serveConnection(handlers, (message) => {
      // Bound to the frame, not to the window: an answer never reaches the page that was loaded after. `detached`
      // is not asked: Electron says it of the frame that replaced a crashed one, for as long as that lives.
      if (frame.isDestroyed()) return;
      frame.send(HOST_CHANNEL, message);
    });

  const disconnect = (id: number): void => {
    const entry = attached.get(id);
    entry?.connection?.close();
    if (entry) entry.connection = undefined;
  };

  const refuseLarge = (frame: WebFrameMain, message: unknown): void => {
    const id = (message as { id?: unknown } | null)?.id;
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1) return;
    const text = `the message is larger than ${MESSAGE_BYTES_MAX} bytes`;
    frame.send(HOST_CHANNEL, { kind: 'failure', id, failure: { reason: 'BadRequest', message: text } });
  };

  const onMessage = (event: IpcMainEvent, message: unknown): void => {
    const why = whyRefused(event, (id) => attached.has(id), CONSOLE_ORIGIN);
    const entry = attached.get(event.sender.id);
    const frame = event.senderFrame;
    if (why !== undefined || !entry || !frame) {
      refusedCount += 1;
      if (refusedCount <= REFUSALS_LOGGED_MAX) log.write('warn', 'a message was rejected', { why });
      return;
    }
    if (isLargerThan(message, MESSAGE_BYTES_MAX)) return refuseLarge(frame, message);
    entry.connection ??= connectTo(frame, entry.handlers);
    entry.connection.receive(message);
  };

  ipc.on(CLIENT_CHANNEL, onMessage);

  return {
    attach(contents, handlers) {
      const { id } = contents;
      attached.set(id, { handlers, connection: undefined });
      contents.on('did-start-navigation', ({ isMainFrame, isSameDocument }) => {
        if (isMainFrame && !isSameDocument) disconnect(id);
      });
      contents.on('render-process-gone', () => disconnect(id));
      contents.once('destroyed', () => {
        disconnect(id);
        attached.delete(id);
      });
    },
    get openStreamCount() {
      let count = 0;
      for (const { connection } of attached.values()) count += connection?.openStreamCount ?? 0;
      return count;
    },
    get refusedCount() {
      return refusedCount;
    },
    ...toDisposable(() => {
      ipc.removeListener(CLIENT_CHANNEL, onMessage);
      for (const id of attached.keys()) disconnect(id);
      attached.clear();
    }),
  };
};
