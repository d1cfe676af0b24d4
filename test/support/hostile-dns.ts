import { createSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import { systemClock } from '../../core/base/node/clock.ts';
import { seededRandom, type Random } from '../../core/base/random.ts';
import { exchange, type DnsServerAddress } from '../../core/dns/exchange/exchange.ts';
import { frame, FrameReader } from '../../core/dns/exchange/frames.ts';
import { CLASS_IN, encodeMessage, message, TYPE } from '../../core/dns/wire/index.ts';
import { hostileBytes } from './hostile-requests.ts';

const LANES = 8;
/** For what hangs. */
const OUTCOME_MS_MAX = 60_000;
const NAMES = [
  'kubernetes.default.svc.cluster.local.',
  '_https._tcp.kubernetes.default.svc.cluster.local.',
  '1.64.20.127.in-addr.arpa.',
  'cluster.local.',
  'example.com.',
  `${'a'.repeat(63)}.${'b'.repeat(63)}.svc.cluster.local.`,
  '.',
];
const TYPES = [...Object.values(TYPE), 0, 65_535];

const questionBytes = (random: Random): Uint8Array =>
  encodeMessage(
    message({
      id: random.below(65_536),
      opcode: random.below(8) === 0 ? random.below(16) : 0,
      isResponse: random.below(12) === 0,
      questions: Array.from({ length: 1 + (random.below(6) === 0 ? random.below(40) : 0) }, () => ({
        name: NAMES[random.below(NAMES.length)]!,
        type: TYPES[random.below(TYPES.length)]!,
        class: random.below(8) === 0 ? random.below(65_536) : CLASS_IN,
      })),
      edns:
        random.below(2) === 0
          ? undefined
          : {
              udpBytes: random.below(65_536),
              version: random.below(6) === 0 ? random.below(256) : 0,
              isDnssecOk: random.below(2) === 0,
              options: [{ code: random.below(65_536), bytes: hostileBytes(random, random.below(60)) }],
            },
    }),
  );

/** A question as it should be, one with some bytes changed, cut off or added, or bytes that are none. */
export const hostileQuestion = (random: Random): Buffer => {
  if (random.below(8) === 0) return Buffer.from(hostileBytes(random, random.below(700)));
  const bytes = Buffer.from(questionBytes(random));
  switch (random.below(4)) {
    case 0:
      return bytes;
    case 1:
      return bytes.subarray(0, random.below(bytes.length));
    case 2:
      return Buffer.concat([bytes, hostileBytes(random, random.below(50))]);
    default:
      for (let count = 1 + random.below(6); count > 0; count -= 1)
        bytes[random.below(bytes.length)] = random.below(256);
      return bytes;
  }
};

export interface HostileDns {
  readonly inputs: number;
  readonly at: readonly DnsServerAddress[];
  readonly seed: number;
}

const openTcp = (at: DnsServerAddress): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(at, () => {
      socket.off('error', reject).on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', reject);
  });

/** One framed input, and whether an answer came before the end of the connection. */
const outcomeOf = (socket: Socket, bytes: Buffer): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const reader = new FrameReader();
    const settle = (act: () => void): void => {
      clearTimeout(limit);
      socket.off('data', take).off('close', end);
      act();
    };
    const take = (chunk: Buffer): void => {
      if (reader.read(chunk).length > 0) settle(() => resolve(true));
    };
    const end = (): void => settle(() => resolve(false));
    const limit = setTimeout(
      () => settle(() => reject(new Error(`no outcome for ${bytes.toString('hex')}`))),
      OUTCOME_MS_MAX,
    );
    socket.on('data', take).once('close', end);
    if (socket.destroyed) end();
    else socket.write(frame(bytes));
  });

/** Each input is answered or ends its connection, over TCP. */
export const sendHostileFrames = async ({ inputs, at, seed }: HostileDns) => {
  let [next, answered, hungUp] = [0, 0, 0];
  const lane = async (index: number): Promise<void> => {
    let socket: Socket | undefined;
    while (next < inputs) {
      const bytes = hostileQuestion(seededRandom(seed + (next += 1)));
      if (socket?.destroyed !== false) socket = await openTcp(at[index % at.length]!);
      if (await outcomeOf(socket, bytes)) answered += 1;
      else hungUp += 1;
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
  return { answered, hungUp };
};

/** The addresses of a name. */
export const resolveAt = async (at: DnsServerAddress, name: string): Promise<readonly string[]> => {
  const questions = [{ name, type: TYPE.A, class: CLASS_IN }];
  const { answers } = await exchange(at, message({ id: 77, questions }), {
    clock: systemClock,
    timeoutMs: OUTCOME_MS_MAX,
  });
  return answers.flatMap(({ data }) => (data.kind === 'address' ? [data.address] : []));
};

const DATAGRAMS_BETWEEN = 100;

/** Datagrams in portions; between them a name must resolve, so that none of the portions is only dropped. */
export const sendHostileDatagrams = async ({ inputs, at, seed }: HostileDns) => {
  const socket = createSocket('udp4');
  let answered = 0;
  socket.on('message', () => void (answered += 1));
  for (let index = 0; index < inputs; index += 1) {
    const { host, port } = at[index % at.length]!;
    socket.send(hostileQuestion(seededRandom(seed + index)), port, host);
    if (index % DATAGRAMS_BETWEEN === 0)
      for (const server of at) await resolveAt(server, 'kubernetes.default.svc.cluster.local.');
  }
  for (const server of at) await resolveAt(server, 'kubernetes.default.svc.cluster.local.');
  socket.close();
  return { answered };
};
