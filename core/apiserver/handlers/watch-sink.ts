import type { RequestContext } from '../server/context.ts';
import { isWebSocketRequest, openWebSocket, type FrameSender } from '../server/web-socket.ts';
import { JSON_MEDIA_TYPE } from './media-types.ts';

/** Where the lines of a watch go. */
export interface WatchSink {
  /** Resolves when there is room for more; rejects with `ClientGone` when there is no one left to read. */
  send(lines: readonly Uint8Array[]): Promise<void>;
  end(): Promise<void>;
}

/** A body that never ends on its own, one line an event. */
const bodySink = ({ request, response, warnings }: RequestContext): WatchSink => {
  warnings.writeTo(response);
  response.setHeader('content-type', JSON_MEDIA_TYPE);
  response.begin(200);
  return {
    send: (lines) => response.write(lines.length === 1 ? lines[0]! : Buffer.concat(lines)),
    async end() {
      if (request.signal.aborted) response.abort();
      else await response.end();
    },
  };
};

/** One text frame an event. */
const socketSink = (frames: FrameSender): WatchSink => ({
  async send(lines) {
    for (const line of lines) await frames.send(line, 'text');
  },
  end: () => frames.end(),
});

/** Begins the answer to a watch: over the connection itself where the client asked for a WebSocket. */
export const openSink = async (context: RequestContext): Promise<WatchSink> => {
  const frames = isWebSocketRequest(context) ? await openWebSocket(context) : undefined;
  return frames ? socketSink(frames) : bodySink(context);
};
