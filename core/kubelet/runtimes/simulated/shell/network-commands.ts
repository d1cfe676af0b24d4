import http from 'node:http';
import https from 'node:https';
import { messageOf } from '../../../../base/errors.ts';
import { Killed, type Command, type Process } from './process.ts';
import { assertMayConnect, reach, Unreachable } from './reach.ts';

const TIMEOUT_MS_DEFAULT = 30_000;
const TIMEOUT_MS_MAX = 600_000;
const BODY_BYTES_MAX = 1024 * 1024;
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

interface Answer {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly string[];
  readonly body: string;
}

interface FetchRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly timeoutMs: number;
}

/** One request; redirects are answers like others. Only the container's own networks are reached. */
const fetchUrl = async (process: Process, request: FetchRequest): Promise<Answer> => {
  const url = new URL(/^[a-z]+:\/\//.test(request.url) ? request.url : `http://${request.url}`);
  const defaultPort = PORTS[url.protocol];
  if (defaultPort === undefined) throw new Error(`Protocol "${url.protocol.slice(0, -1)}" not supported`);
  const address = await reach(process, url.hostname);
  const port = url.port === '' ? defaultPort : Number(url.port);
  await assertMayConnect(process, { protocol: 'TCP', address, port });
  return send(process, request, { url, address, port });
};

interface Destination {
  readonly url: URL;
  readonly address: string;
  readonly port: number;
}

const send = (
  process: Process,
  request: FetchRequest,
  { url, address, port }: Destination,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { method, headers, body } = request;
    const outgoing = (url.protocol === 'https:' ? https : http).request(
      {
        // An address, never a name: nothing is looked up behind this line.
        host: address,
        port,
        // From the pod's own address, so that the other end knows who asks.
        localAddress: process.host.podIP,
        path: url.pathname + url.search,
        method,
        headers: { Host: url.host, ...headers },
        agent: false,
        // A simulated container trusts any certificate, as `-k` does: it holds no real secret.
        rejectUnauthorized: false,
      },
      (response) => receive(response),
    );
    const receive = (response: http.IncomingMessage): void => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= BODY_BYTES_MAX) chunks.push(chunk);
        else outgoing.destroy(new Error('Maximum file size exceeded'));
      });
      response.on('error', fail);
      response.once('close', () => {
        if (!response.complete) return fail(new Error('connection closed prematurely'));
        settle();
        const raw = response.rawHeaders;
        const lines = raw.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${raw[i + 1]!}`] : []));
        resolve({
          status: response.statusCode ?? 0,
          reason: response.statusMessage ?? '',
          headers: lines,
          body: Buffer.concat(chunks).toString(),
        });
      });
    };
    const stop = (): void => {
      outgoing.destroy();
      reject(new Killed('killed'));
    };
    process.signal.addEventListener('abort', stop, { once: true });
    const timer = process.host.clock.after(Math.min(request.timeoutMs, TIMEOUT_MS_MAX), () =>
      outgoing.destroy(new Error('download timed out')),
    );
    const settle = (): void => {
      timer.dispose();
      process.signal.removeEventListener('abort', stop);
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    outgoing.on('error', fail);
    outgoing.end(body);
  });

const parseOptions = (args: readonly string[]) => {
  const headers: Record<string, string> = {};
  const result = {
    url: '',
    method: '',
    headers,
    body: undefined as string | undefined,
    flags: '',
    timeoutMs: TIMEOUT_MS_DEFAULT,
  };
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i]!;
    const next = (): string => args[(i += 1)] ?? '';
    if (arg === '-H' || arg === '--header') {
      const [name = '', ...value] = next().split(':');
      headers[name.trim()] = value.join(':').trim();
    } else if (arg === '-X' || arg === '--request') result.method = next();
    else if (arg === '-d' || arg === '--data' || arg === '--post-data') result.body = next();
    else if (arg === '-T' || arg === '-m' || arg === '--max-time' || arg === '--connect-timeout')
      result.timeoutMs = Number(next()) * 1000 || TIMEOUT_MS_DEFAULT;
    else if (arg === '-O' || arg === '-o') result.flags += next() === '-' ? '' : 'n';
    else if (/^-[a-zA-Z]*O-$/.test(arg)) result.flags += arg.slice(1, -2);
    else if (/^-\w+$/.test(arg)) result.flags += arg.slice(1);
    else if (!arg.startsWith('--')) result.url = arg;
  }
  return result;
};

const refusal = (error: unknown): string => {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ECONNREFUSED') return `can't connect to remote host: Connection refused`;
  return messageOf(error);
};

const hostOf = (url: string): string => url.replace(/^[a-z]+:\/\//, '').replace(/[:/?#].*$/, '');

const wget: Command = async (process) => {
  const { url, headers, body, timeoutMs, flags } = parseOptions(process.args);
  try {
    const method = body === undefined ? 'GET' : 'POST';
    const answer = await fetchUrl(process, { url, method, headers, body, timeoutMs });
    if (answer.status >= 400) {
      process.err(`wget: server returned error: HTTP/1.1 ${answer.status} ${answer.reason}\n`);
      return 1;
    }
    if (!flags.includes('q')) process.err(`Connecting to ${url}\n`);
    process.out(answer.body);
    return 0;
  } catch (error) {
    if (error instanceof Killed) throw error;
    process.err(`wget: ${refusal(error)}\n`);
    return 1;
  }
};

const curl: Command = async (process) => {
  const { url, headers, body, timeoutMs, method, flags } = parseOptions(process.args);
  try {
    const verb = method || (flags.includes('I') ? 'HEAD' : body === undefined ? 'GET' : 'POST');
    const answer = await fetchUrl(process, { url, method: verb, headers, body, timeoutMs });
    if (/[iI]/.test(flags))
      process.out(`HTTP/1.1 ${answer.status} ${answer.reason}\r\n${answer.headers.join('\r\n')}\r\n\r\n`);
    if (flags.includes('f') && answer.status >= 400) {
      process.err(`curl: (22) The requested URL returned error: ${answer.status}\n`);
      return 22;
    }
    process.out(answer.body);
    return 0;
  } catch (error) {
    if (error instanceof Killed) throw error;
    if (error instanceof Unreachable && error.code === 'ENOTFOUND') {
      process.err(`curl: (6) Could not resolve host: ${hostOf(url)}\n`);
      return 6;
    }
    process.err(`curl: (7) ${refusal(error)}\n`);
    return 7;
  }
};

export const networkCommands: Readonly<Record<string, Command>> = { wget, curl };
