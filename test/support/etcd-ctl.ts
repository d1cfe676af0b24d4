import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { ClusterCertificates } from './etcd-cluster.ts';

export const REAL_ETCDCTL = '/usr/bin/etcdctl';
export const hasEtcdctl = (): boolean => existsSync(REAL_ETCDCTL);

/** Its own limits, of two and five seconds, are for machines that have nothing else to do. */
export const PATIENCE = ['--dial-timeout=60s', '--command-timeout=60s'];
const RUN_LIMIT_MS = 180_000;

export interface CtlOutcome {
  readonly code: number;
  readonly stdout: string;
  /** Without the log lines of the client library, which carry times and addresses. */
  readonly stderr: string;
}

export interface CtlOptions {
  readonly input?: string;
  /** Instead of all endpoints. */
  readonly endpoints?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** An etcdctl that continues: a watch, a lock, an election. */
export interface CtlSession {
  readonly output: string;
  readonly exited: Promise<number | null>;
  write(text: string): void;
  /** Resolves with all output so far when it matches; rejects when the process ends before. */
  until(pattern: RegExp): Promise<string>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface Etcdctl {
  run(args: readonly string[], options?: CtlOptions): Promise<CtlOutcome>;
  /** The output of a command that must succeed. */
  ok(...args: readonly string[]): Promise<string>;
  json<T>(...args: readonly string[]): Promise<T>;
  /** The last line of the error of a command that must fail. */
  refusal(...args: readonly string[]): Promise<string>;
  start(args: readonly string[], options?: CtlOptions): CtlSession;
  /** Ends every session that still runs. */
  close(): Promise<void>;
}

const withoutLogLines = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('{"level":') && line !== '')
    .join('\n');

/** The real etcdctl of this machine, with the certificates of a cluster or in plain text. */
export const etcdctlFor = (
  endpoints: () => readonly string[],
  certificates: ClusterCertificates | undefined,
): Etcdctl => {
  const children = new Set<ChildProcess>();
  const launch = (args: readonly string[], options: CtlOptions): ChildProcess => {
    const tls = certificates
      ? [
          `--cacert=${certificates.caFile}`,
          `--cert=${certificates.clientCertFile}`,
          `--key=${certificates.clientKeyFile}`,
        ]
      : [];
    const target = `--endpoints=${(options.endpoints ?? endpoints()).join(',')}`;
    const child = spawn(REAL_ETCDCTL, [target, ...tls, ...PATIENCE, ...args], {
      env: { ETCDCTL_API: '3', PATH: '/usr/bin:/bin', ...options.env },
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  };

  const run = (args: readonly string[], options: CtlOptions = {}): Promise<CtlOutcome> =>
    new Promise((resolve, reject) => {
      const child = launch(args, options);
      const out: Buffer[] = [];
      const err: Buffer[] = [];
      child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
      child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
      const limit = setTimeout(() => child.kill('SIGKILL'), RUN_LIMIT_MS);
      child.once('error', reject);
      child.once('close', (code) => {
        clearTimeout(limit);
        resolve({
          code: code ?? -1,
          stdout: Buffer.concat(out).toString('latin1'),
          stderr: withoutLogLines(Buffer.concat(err).toString()),
        });
      });
      child.stdin?.on('error', () => undefined); // it may end without reading all
      child.stdin?.end(options.input ?? '');
    });

  const ok = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(args);
    if (code !== 0) throw new Error(`etcdctl ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  };

  const start = (args: readonly string[], options: CtlOptions = {}): CtlSession => {
    const child = launch(args, options);
    let output = '';
    const waiting = new Set<() => void>();
    const take = (chunk: Buffer): void => {
      output += chunk.toString();
      for (const look of waiting) look();
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.stdin?.on('error', () => undefined); // it may have ended
    const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
    return {
      get output() {
        return output;
      },
      exited,
      write: (text) => void child.stdin?.write(text),
      until: (pattern) =>
        new Promise((resolve, reject) => {
          const fail = (why: string): void => {
            settle();
            reject(new Error(`etcdctl ${args.join(' ')} ${why} before ${String(pattern)}: ${output}`));
          };
          const limit = setTimeout(() => fail(`said nothing for ${RUN_LIMIT_MS} ms`), RUN_LIMIT_MS);
          const look = (): void => {
            if (!pattern.test(output)) return;
            settle();
            resolve(output);
          };
          const settle = (): void => {
            clearTimeout(limit);
            waiting.delete(look);
          };
          waiting.add(look);
          void exited.then(() => waiting.has(look) && fail('ended'));
          look();
        }),
      async stop(signal = 'SIGINT') {
        child.kill(signal);
        await exited;
      },
    };
  };

  return {
    run,
    ok,
    start,
    json: async <T>(...args: readonly string[]) => JSON.parse(await ok(...args, '-w', 'json')) as T,
    async refusal(...args) {
      const { code, stdout, stderr } = await run(args);
      if (code === 0) throw new Error(`etcdctl ${args.join(' ')} was not refused: ${stdout}`);
      return stderr.split('\n').at(-1) ?? '';
    },
    async close() {
      await Promise.all(
        [...children].map(
          (child) =>
            new Promise<void>((resolve) => {
              child.once('exit', () => resolve());
              child.kill('SIGKILL');
            }),
        ),
      );
    },
  };
};
