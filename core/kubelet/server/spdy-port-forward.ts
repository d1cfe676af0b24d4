import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { forwardPort, parsePort, type ForwardTarget } from './port-forward.ts';
import { SpdyConnection, type SpdyStream } from '../spdy/spdy-connection.ts';
import { STREAM_CREATION_TIMEOUT_MS } from './spdy-remote.ts';

export const PORT_FORWARD_PROTOCOL = 'portforward.k8s.io';

interface Pair {
  data?: SpdyStream;
  error?: SpdyStream;
  timer?: Disposable;
}

/** Old clients send no request id: their streams come in pairs with consecutive odd ids, the error stream first. */
const requestIdOf = (stream: SpdyStream, type: string): string =>
  stream.headers.get('requestid') ?? String(type === 'error' ? stream.id : stream.id - 2);

/** Any number of forwarded connections over one SPDY connection: each is a pair of a data and an error stream. */
export const servePortForward = (
  socket: Duplex,
  head: Buffer,
  target: ForwardTarget,
  clock: Clock,
): SpdyConnection => {
  const pairs = new Map<string, Pair>();
  const run = async (pair: Required<Pick<Pair, 'data' | 'error'>>, port: number): Promise<void> => {
    const failure = await forwardPort(target, port, pair.data);
    if (failure === undefined) {
      pair.error.end();
      return;
    }
    pair.error.end(failure);
    pair.data.destroy();
  };
  return new SpdyConnection(
    socket,
    {
      onStream(stream) {
        const type = stream.headers.get('streamtype') ?? '';
        const port = parsePort(stream.headers.get('port'));
        if (port === undefined || (type !== 'data' && type !== 'error')) return false;
        const id = requestIdOf(stream, type);
        const pair = pairs.get(id) ?? {};
        if (pair[type]) return false;
        pair[type] = stream;
        pairs.set(id, pair);
        // No one writes to an error stream: it has to be read to its end to close.
        if (type === 'error') stream.resume();
        if (pair.data && pair.error) {
          pair.timer?.dispose();
          pairs.delete(id);
          void run({ data: pair.data, error: pair.error }, port);
        } else
          pair.timer = clock.after(STREAM_CREATION_TIMEOUT_MS, () => {
            pairs.delete(id);
            pair.error?.end(`(request=${id}) timed out waiting for streams`);
            pair.data?.destroy();
          });
        return true;
      },
      onClose() {
        for (const { timer } of pairs.values()) timer?.dispose();
        pairs.clear();
      },
    },
    head,
  );
};
