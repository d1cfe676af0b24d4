import http from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../../../base/errors.ts';
import { SpdyConnection, type SpdyStream } from '../../spdy/spdy-connection.ts';
import { RuntimeError, type ExecRequest, type ExecSession } from '../runtime.ts';

const COMMAND_PROTOCOL = 'v4.channel.k8s.io';
const FORWARD_PROTOCOL = 'portforward.k8s.io';
const STATUS_BYTES_MAX = 64 * 1024;
const CONNECT_TIMEOUT_MS = 30_000;

const failed = (why: string, cause?: unknown): RuntimeError => new RuntimeError('ExecFailed', why, { cause });

/** A SPDY connection to where the container runtime serves a stream. */
const connectSpdy = (address: string, protocol: string): Promise<SpdyConnection> =>
  new Promise((resolve, reject) => {
    const url = new URL(address);
    if (url.protocol !== 'http:')
      return reject(
        failed(`streams over ${url.protocol} are not supported; the container runtime serves ${url.origin}`),
      );
    const request = http.request(url, {
      method: 'POST',
      agent: false,
      timeout: CONNECT_TIMEOUT_MS,
      headers: { Connection: 'Upgrade', Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': protocol },
    });
    request.once('timeout', () => request.destroy(new Error('timeout')));
    request.once('error', (error) =>
      reject(failed(`unable to upgrade connection: ${messageOf(error)}`, error)),
    );
    request.once('response', (response) => {
      response.resume();
      reject(failed(`unable to upgrade connection: ${response.statusCode} ${response.statusMessage}`));
    });
    request.once('upgrade', (_response, socket, head) => {
      socket.setTimeout(0);
      resolve(
        new SpdyConnection(
          socket,
          { isClient: true, onStream: () => false, onClose: () => socket.destroy() },
          head,
        ),
      );
    });
    request.end();
  });

const collect = async (stream: Duplex): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= STATUS_BYTES_MAX) chunks.push(chunk);
    }
  } catch {
    // A stream that is cut off has said what it has said.
  }
  return Buffer.concat(chunks).toString();
};

/** The exit code in a Status of the error stream. Without any the command was cut off: nothing says that it succeeded. */
export const exitCodeIn = (text: string): number => {
  try {
    const { status, details } = JSON.parse(text) as {
      readonly status?: string;
      readonly details?: {
        readonly causes?: readonly { readonly reason?: string; readonly message?: string }[];
      };
    };
    if (status === 'Success') return 0;
    const code = details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
    return code === undefined ? 1 : Number(code);
  } catch {
    return 1;
  }
};

/** A command's streams, served by the container runtime at this address. */
export const openCommand = async (
  address: string,
  { tty, stdin, stdout, stderr }: Omit<ExecRequest, 'command'>,
): Promise<ExecSession> => {
  const connection = await connectSpdy(address, COMMAND_PROTOCOL);
  const open = (streamtype: string): SpdyStream => connection.open(new Map([['streamtype', streamtype]]));
  const errors = open('error');
  const input = stdin && open('stdin');
  const output = stdout && open('stdout');
  const errorOutput = stderr && !tty ? open('stderr') : undefined;
  const resizes = tty ? open('resize') : undefined;
  // Nothing is sent while the status may be on its way: a runtime that has hung up answers with a reset, and it would be lost.
  errors.once('end', () => [output, errorOutput, errors].forEach((stream) => stream?.end()));
  input?.resume();
  resizes?.resume();
  // The client may go first, and the command may end before its input: neither is a failure of the other.
  if (stdin && input) void pipeline(stdin, input).catch(() => undefined);
  const copied = [
    output && stdout ? pipeline(output, stdout, { end: false }).catch(() => undefined) : undefined,
    errorOutput && stderr ? pipeline(errorOutput, stderr, { end: false }).catch(() => undefined) : undefined,
  ];
  const exitCode = collect(errors).then(async (text) => {
    await Promise.all(copied);
    connection.close();
    return exitCodeIn(text);
  });
  return {
    exitCode,
    resize: (size) => resizes?.write(`${JSON.stringify(size)}\n`),
    kill: () => connection.close(),
  };
};

/** A connection into the pod, through the container runtime. */
export const openForward = async (address: string, port: number): Promise<Duplex> => {
  const connection = await connectSpdy(address, FORWARD_PROTOCOL);
  const headers = (streamtype: string): ReadonlyMap<string, string> =>
    new Map([
      ['streamtype', streamtype],
      ['port', String(port)],
      ['requestid', '0'],
    ]);
  const errors = connection.open(headers('error'));
  errors.end();
  const data = connection.open(headers('data'));
  void collect(errors).then((text) => {
    if (text !== '') data.destroy(new Error(text));
  });
  data.once('close', () => connection.close());
  return data;
};
