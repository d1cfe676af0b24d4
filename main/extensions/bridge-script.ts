/**
 * Runs before the script of an extension, in its frame, and gives it `pilothouse`. It has no more rights than that script:
 * everything it is asked for is checked by the console and by its host.
 */
export const BRIDGE_SCRIPT = `'use strict';
(() => {
  // No policy of a page covers them, and through a server of their choice they would reach the network.
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCIceTransport', 'WebTransport'])
    delete globalThis[name];
  const waiting = new Map();
  const listeners = new Set();
  let port;
  let lastId = 0;
  let context;
  let begin;
  const begun = new Promise((resolve) => { begin = resolve; });
  const show = ({ theme, language, colours }) => {
    const root = document.documentElement;
    root.dataset.theme = theme;
    root.lang = language;
    root.style.colorScheme = theme;
    for (const [name, value] of Object.entries(colours)) root.style.setProperty(name, value);
  };
  const hear = ({ data }) => {
    if (data.kind === 'ping') return port.postMessage('{"kind":"pong"}');
    if (data.kind === 'context') {
      context = Object.freeze(data.context);
      show(context);
      begin();
      for (const listener of listeners) listener(context);
      return;
    }
    const call = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.kind === 'result') call?.resolve(data.value);
    else call?.reject(Object.assign(new Error(data.message), { reason: data.reason }));
  };
  addEventListener('message', (event) => {
    // Within a document of the extension itself there is no console above.
    if (port || parent !== top || event.source !== parent || event.data?.kind !== 'hello') return;
    port = event.ports[0];
    port.onmessage = hear;
    port.postMessage('{"kind":"ready"}');
  });
  const ask = async (request) => {
    await begun;
    const id = (lastId += 1);
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      port.postMessage(JSON.stringify({ kind: 'ask', id, request }));
    });
  };
  globalThis.pilothouse = Object.freeze({
    context: () => begun.then(() => context),
    onChange: (listener) => { listeners.add(listener); return () => listeners.delete(listener); },
    list: (resource, options) => ask({ ...options, kind: 'list', resource }),
    get: (resource, name, namespace = '') => ask({ kind: 'get', resource, name, namespace }),
    open: (resource, name, namespace = '') => ask({ kind: 'open', resource, name, namespace }),
  });
})();
`;
