import http from 'node:http';
import https from 'node:https';
import dns from 'node:dns/promises';
import { messageOf } from '../../../../base/errors.ts';
import { Killed, type Command, type Process } from './process.ts';

const TIMEOUT_MS_DEFAULT = 30_000;
const BODY_BYTES_MAX = 4 * 1024 * 1024;

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

const fetchUrl = (process: Process, request: FetchRequest): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const url = new URL(/^[a-z]+:\/\//.test(request.url) ? request.url : `http://${request.url}`);
    const client = url.protocol === 'https:' ? https : http;
    const { method, headers, body } = request;
    // A simulated container trusts nobody's certificates, as `-k` does: it holds no real secret.
    const outgoing = client.request(
      url,
      { method, headers, agent: false, rejectUnauthorized: false },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size <= BODY_BYTES_MAX) chunks.push(chunk);
        });
        response.once('end', () => {
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
      },
    );
    const stop = (): void => {
      outgoing.destroy();
      reject(new Killed('killed'));
    };
    process.signal.addEventListener('abort', stop, { once: true });
    const timer = process.host.clock.after(request.timeoutMs, () =>
      outgoing.destroy(new Error('download timed out')),
    );
    const settle = (): void => {
      timer.dispose();
      process.signal.removeEventListener('abort', stop);
    };
    outgoing.once('error', (error) => {
      settle();
      reject(error);
    });
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

const refusal = (error: unknown, url: string): string => {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ECONNREFUSED') return `can't connect to remote host: Connection refused`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `bad address '${url.replace(/^\w+:\/\//, '').split('/')[0]}'`;
  return messageOf(error);
};

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
    process.err(`wget: ${refusal(error, url)}\n`);
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
    process.err(`curl: (7) ${refusal(error, url)}\n`);
    return 7;
  }
};

const nslookup: Command = async (process) => {
  const [name = ''] = process.args;
  try {
    const { address } = await dns.lookup(name);
    process.out(`Name:\t${name}\nAddress: ${address}\n`);
    return 0;
  } catch {
    process.err(`nslookup: can't resolve '${name}'\n`);
    return 1;
  }
};

export const networkCommands: Readonly<Record<string, Command>> = { wget, curl, nslookup };
