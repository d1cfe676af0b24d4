import { spawn, execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

export const ETCD_BINARY = '/usr/bin/etcd';
export const ETCDCTL_BINARY = '/usr/bin/etcdctl';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const LOG_LINES_MAX = 200;

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
};

export const etcdctl = async (...args: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(ETCDCTL_BINARY, args, {
    env: { ETCDCTL_API: '3', PATH: '/usr/bin:/bin' },
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  return stdout;
};

export interface RealEtcd {
  readonly endpoint: string;
  /** The JSON gateway of etcd: POST /v3/<path>, bytes as base64, 64-bit numbers as strings. */
  call<Answer>(path: string, body: object): Promise<Answer>;
  stop(): Promise<void>;
}

const untilServing = async (child: ChildProcess): Promise<void> => {
  const log: string[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    log.push(line);
    if (log.length > LOG_LINES_MAX) log.shift();
    if (line.includes('serving insecure client requests')) return;
  }
  throw new Error(`etcd ended before it served:\n${log.join('\n')}`);
};

/** One real etcd on free loopback ports, over a data folder that may come from a restore. */
export const startRealEtcd = async (
  dataDirectory: string,
  flags: readonly string[] = [],
): Promise<RealEtcd> => {
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const endpoint = `http://127.0.0.1:${clientPort}`;
  const child = spawn(
    ETCD_BINARY,
    [
      `--data-dir=${dataDirectory}`,
      `--listen-client-urls=${endpoint}`,
      `--advertise-client-urls=${endpoint}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      ...flags,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: '/usr/bin:/bin' } },
  );
  const ended = once(child, 'exit');
  try {
    await untilServing(child);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  child.stderr?.resume();
  return {
    endpoint,
    async call<Answer>(path: string, body: object) {
      const answer = await fetch(`${endpoint}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
      return JSON.parse(text) as Answer;
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
};
