import type { Socket } from 'node:net';

/** For what hangs: a busy machine is far below it. */
const OUTCOME_MS_MAX = 120_000;
const SHOWN_CHARACTERS_MAX = 600;

/** One input of a connection. It is alone on the wire, so what comes back, or the end, belongs to it. */
export interface HostileInput {
  readonly bytes: Buffer;
  /** No answer has to come before more is sent: it is followed by the end of what the client says. */
  readonly isLast?: boolean;
}

/** What the other side did with the inputs: none is counted that it did not read to its end or hang up on. */
export interface Tally {
  /** Inputs with an HTTP answer. */
  readonly answered: number;
  /** Inputs on which the other side closed the connection without one. */
  readonly hungUp: number;
  /** HTTP status to how often. */
  readonly codes: Readonly<Record<number, number>>;
}

export interface Traffic {
  readonly inputs: number;
  readonly connections: number;
  /** Resolves with a connected socket. */
  open(): Promise<Socket>;
  input(index: number): HostileInput;
}

interface HttpAnswer {
  readonly code: number;
  readonly endsAt: number;
  readonly isKept: boolean;
}

/** Where a chunked body ends, or undefined while it has not. */
const chunksEnd = (bytes: Buffer, from: number): number | undefined => {
  for (let at = from; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    at = line + 2 + size + 2;
    if (bytes.length < at) return undefined;
    if (size === 0) return at;
  }
};

/** The answer at the front of what came back; undefined while it is not complete. */
const readAnswer = (bytes: Buffer, isHead: boolean): HttpAnswer | undefined => {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const code = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? Number.NaN);
  if (Number.isNaN(code)) throw new Error(`this is no answer: ${head.slice(0, SHOWN_CHARACTERS_MAX)}`);
  const bodyAt = headEnd + 4;
  if (code < 200 && code !== 101) return readAnswer(bytes.subarray(bodyAt), isHead);
  const header = (name: string): string | undefined =>
    new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(head)?.[1]?.trim().toLowerCase();
  const isKept = code !== 101 && header('connection') !== 'close';
  const ended = (endsAt: number | undefined): HttpAnswer | undefined =>
    endsAt === undefined || bytes.length < endsAt ? undefined : { code, endsAt, isKept };
  if (isHead || code === 101 || code === 204 || code === 304) return ended(bodyAt);
  if (header('transfer-encoding')?.includes('chunked')) return ended(chunksEnd(bytes, bodyAt));
  const length = header('content-length');
  return length === undefined
    ? { code, endsAt: Infinity, isKept: false }
    : ended(bodyAt + Number.parseInt(length, 10));
};

type Outcome = { readonly code: number | undefined; readonly isKept: boolean };

/** Sends one input, and waits for its answer or for the end of the connection, whichever comes first. */
const exchange = (socket: Socket, { bytes, isLast = false }: HostileInput): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const isHead = bytes.subarray(0, 5).toString('latin1') === 'HEAD ';
    const received: Buffer[] = [];
    let code: number | undefined;
    const settle = (isKept: boolean): void => {
      clearTimeout(limit);
      socket.off('data', take).off('close', end);
      if (!isKept) socket.destroy();
      resolve({ code, isKept });
    };
    const take = (chunk: Buffer): void => {
      received.push(chunk);
      if (code !== undefined) return;
      try {
        const answer = readAnswer(Buffer.concat(received), isHead);
        if (answer === undefined) return;
        code = answer.code;
        if (isLast || answer.endsAt === Infinity) return;
        if (answer.isKept) settle(true);
        // The protocol was changed, or this was the last answer: the rest is up to the other side.
        else socket.end(bytes);
      } catch (error) {
        if (isLast) return; // what speaks no HTTP may say what it likes
        clearTimeout(limit);
        socket.destroy();
        reject(error as Error);
      }
    };
    const end = (): void => settle(false);
    const limit = setTimeout(() => {
      socket.off('close', end).destroy();
      const shown = JSON.stringify(bytes.toString('latin1').slice(0, SHOWN_CHARACTERS_MAX));
      reject(new Error(`neither an answer nor the end of the connection for ${shown}`));
    }, OUTCOME_MS_MAX);
    socket.on('data', take);
    socket.once('close', end);
    if (socket.destroyed) return end();
    if (isLast) socket.end(bytes);
    else socket.write(bytes);
  });

/**
 * Sends every input and counts what became of it. A connection is used until the other side ends it. An input that
 * meets the end of a used connection is sent again on a new one, since the end may have been on its way before.
 */
export const sendHostile = async (traffic: Traffic): Promise<Tally> => {
  const codes: Record<number, number> = {};
  let [next, answered, hungUp] = [0, 0, 0];
  const lane = async (): Promise<void> => {
    let socket: Socket | undefined;
    const send = async (input: HostileInput): Promise<Outcome> => {
      const isUsed = socket !== undefined;
      socket ??= await traffic.open();
      socket.removeAllListeners('error').on('error', () => undefined); // a reset is one of the right answers
      const outcome = await exchange(socket, input);
      if (!outcome.isKept) socket = undefined;
      return outcome.code === undefined && isUsed ? send(input) : outcome;
    };
    while (next < traffic.inputs) {
      const { code } = await send(traffic.input(next++));
      if (code === undefined) hungUp += 1;
      else {
        answered += 1;
        codes[code] = (codes[code] ?? 0) + 1;
      }
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: traffic.connections }, lane));
  return { answered, hungUp, codes };
};
