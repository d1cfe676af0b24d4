import { spawn, execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { PATIENCE } from '../support/etcd-ctl.ts';

export const ETCD_BINARY = '/usr/bin/etcd';
export const ETCDCTL_BINARY = '/usr/bin/etcdctl';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const LOG_LINES_MAX = 200;

/** Below every network that a cluster is given; from here on this many addresses a process. */
const FIRST_OCTET = 10;
const ADDRESSES_MAX = 6;
let addresses = 0;

/** An address that no other process uses, so that its ports are free: a free port may be taken before it is listened on. */
const ownAddress = (): string => {
  const octet = FIRST_OCTET + (addresses++ % ADDRESSES_MAX);
  return `127.${octet}.${(process.pid >> 8) & 0xff}.${process.pid & 0xff}`;
};

export const etcdctl = async (...args: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(ETCDCTL_BINARY, [...PATIENCE, ...args], {
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

/** One real etcd on a loopback address of its own, over a data folder that may come from a restore. */
export const startRealEtcd = async (
  dataDirectory: string,
  flags: readonly string[] = [],
): Promise<RealEtcd> => {
  const address = ownAddress();
  const endpoint = `http://${address}:2379`;
  const child = spawn(
    ETCD_BINARY,
    [
      `--data-dir=${dataDirectory}`,
      `--listen-client-urls=${endpoint}`,
      `--advertise-client-urls=${endpoint}`,
      `--listen-peer-urls=http://${address}:2380`,
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
