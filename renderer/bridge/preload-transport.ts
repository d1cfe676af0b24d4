import type { Transport } from './transport.ts';
import type { PreloadBridge } from './window.d.ts';

/** The bridge lives and dies with the window, so it opens immediately and is never lost. */
export const preloadTransport = (bridge: PreloadBridge): Transport => ({
  shell: 'desktop',
  connect(events) {
    const stopListening = bridge.listen((message) => events.onMessage(message));
    let open = true;
    queueMicrotask(() => {
      if (open) events.onOpen();
    });
    return {
      send: (message) => bridge.send(message),
      close() {
        open = false;
        stopListening();
      },
    };
  },
});
