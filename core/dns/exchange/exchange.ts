import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { ReasonError } from '../../base/errors.ts';
import {
  decodeMessage,
  encodeMessage,
  isWireError,
  lowerName,
  MESSAGE_BYTES_MAX,
  UDP_BYTES_DEFAULT,
  type Message,
} from '../wire/index.ts';
import { frame, FrameReader } from './frames.ts';

export interface DnsServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The address to ask from. */
  readonly localAddress?: string;
}

/** `Timeout`, `Refused` (nothing listens there), `Failed` (anything else of the network). */
export class ExchangeError extends ReasonError<'Timeout' | 'Refused' | 'Failed'> {
  override readonly name = 'ExchangeError';
}

const asExchangeError = (error: Error): ExchangeError =>
  new ExchangeError(
    (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'Refused' : 'Failed',
    error.message,
    { cause: error },
  );

/** Anybody may send datagrams: only what answers this question counts. */
const answerTo = (query: Message, bytes: Uint8Array): Message | undefined => {
  try {
    const answer = decodeMessage(bytes);
    const [asked, told] = [query.questions[0], answer.questions[0]];
    const isSame =
      asked !== undefined &&
      told !== undefined &&
      lowerName(asked.name) === lowerName(told.name) &&
      asked.type === told.type &&
      asked.class === told.class;
    return answer.isResponse && answer.id === query.id && isSame ? answer : undefined;
  } catch (error) {
    if (!isWireError(error)) throw error;
    return undefined;
  }
};

interface Attempt {
  resolve(answer: Message): void;
  reject(error: ExchangeError): void;
}

/** One try with a limit in time; `begin` answers what ends it. */
const attempt = (
  { clock, timeoutMs, signal }: ExchangeOptions,
  begin: (settle: Attempt) => () => void,
): Promise<Message> =>
  new Promise((resolve, reject) => {
    let isOver = false;
    const finish = (act: () => void): void => {
      if (isOver) return;
      isOver = true;
      timer.dispose();
      signal?.removeEventListener('abort', onAbort);
      close();
      act();
    };
    const onAbort = (): void => finish(() => reject(new ExchangeError('Failed', 'the query was given up')));
    const timer = clock.after(timeoutMs, () =>
      finish(() => reject(new ExchangeError('Timeout', 'no answer in time'))),
    );
    const close = begin({
      resolve: (answer) => finish(() => resolve(answer)),
      reject: (error) => finish(() => reject(error)),
    });
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });

const overUdp = (server: DnsServerAddress, query: Message, options: ExchangeOptions): Promise<Message> =>
  attempt(options, ({ resolve, reject }) => {
    const socket = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4');
    let isOpen = true;
    const close = (): void => {
      if (isOpen) socket.close();
      isOpen = false;
    };
    socket.on('error', (error) => reject(asExchangeError(error)));
    socket.on('message', (bytes) => {
      const answer = answerTo(query, bytes);
      if (answer) resolve(answer);
    });
    // Connected, so that the system reports a closed port and drops datagrams of other senders.
    socket.once('connect', () => socket.send(encodeMessage(query)));
    const begin = (): void => void (isOpen && socket.connect(server.port, server.host));
    if (options.localAddress === undefined) begin();
    else socket.bind({ address: options.localAddress, port: 0 }, begin);
    return close;
  });

const overTcp = (server: DnsServerAddress, query: Message, options: ExchangeOptions): Promise<Message> =>
  attempt(options, ({ resolve, reject }) => {
    const { localAddress } = options;
    const socket = connect({ ...server, ...(localAddress !== undefined && { localAddress }) });
    const reader = new FrameReader();
    socket.on('error', (error) => reject(asExchangeError(error)));
    socket.on('close', () => reject(new ExchangeError('Failed', 'the connection ended')));
    socket.on('data', (chunk: Buffer) => {
      for (const bytes of reader.read(chunk)) {
        const answer = answerTo(query, bytes);
        if (answer) return resolve(answer);
      }
    });
    socket.once('connect', () => socket.write(frame(encodeMessage(query))));
    return () => socket.destroy();
  });

/** One question to one server: by datagram, and by a connection where the answer did not fit. */
export const exchange = async (
  server: DnsServerAddress,
  query: Message,
  options: ExchangeOptions,
): Promise<Message> => {
  const answer = await overUdp(server, query, options);
  return answer.isTruncated ? overTcp(server, query, options) : answer;
};

/** What a client can take over UDP. */
export const udpRoom = (query: Message): number =>
  Math.min(MESSAGE_BYTES_MAX, Math.max(UDP_BYTES_DEFAULT, query.edns?.udpBytes ?? 0));
