import { contextBridge, ipcRenderer } from 'electron';
import { CLIENT_CHANNEL, HOST_CHANNEL } from '../../core/contract/channels.ts';
import { outgoing } from './outgoing.ts';

const LISTENERS_MAX = 8;

let listenerCount = 0;

/** All that a page of the console can reach: messages of the contract, out and in. */
contextBridge.exposeInMainWorld('pilothouse', {
  platform: process.platform,
  send(message: unknown): void {
    ipcRenderer.send(CLIENT_CHANNEL, outgoing(message));
  },
  listen(onMessage: unknown): () => void {
    if (typeof onMessage !== 'function') throw new TypeError('listen requires a function');
    if (listenerCount >= LISTENERS_MAX) throw new RangeError(`more than ${LISTENERS_MAX} listeners`);
    listenerCount += 1;
    let listening = true;
    // The event is kept back: it holds the sender, through which a page could reach Electron.
    const listener = (_event: unknown, message: unknown): void => void onMessage(message);
    ipcRenderer.on(HOST_CHANNEL, listener);
    return () => {
      if (!listening) return;
      listening = false;
      listenerCount -= 1;
      ipcRenderer.removeListener(HOST_CHANNEL, listener);
    };
  },
});

// Whatever an earlier page of this window left open is closed, also if this page never says hello itself.
ipcRenderer.send(CLIENT_CHANNEL, { kind: 'hello' });
