import { posix } from 'node:path';
import type { Clock } from '../../../../base/clock.ts';
import type { Budget } from './budget.ts';
import type { MemoryFileSystem } from './file-system.ts';
import { bounded } from './limits.ts';
import type { Input } from './pipe.ts';
import type { Signals } from './signals.ts';
import { textOf } from './text-bytes.ts';

/** The machine that commands believe to run on. */
export interface ShellHost {
  readonly clock: Clock;
  readonly hostname: string;
  readonly podName: string;
  readonly namespace: string;
  readonly nodeName: string;
  readonly podIP: string;
  readonly kernelVersion: string;
  readonly user: ShellUser;
  /** Of the first process of the container. */
  readonly signals?: Signals;
  /** The command is that first process. */
  readonly isInit?: boolean;
  /** The command line of process 1. */
  readonly init: string;
  readonly fileSystem: MemoryFileSystem;
  readonly budget: Budget;
  /** What it reaches over the network, beside itself. */
  readonly networks: readonly string[];
  /** The address of the cluster's DNS, and its servers where port 53 is for root alone. */
  readonly dns?: ClusterDnsPlaces | undefined;
  /** What NetworkPolicies say; absent: nothing keeps it from connecting. */
  mayConnect?(to: {
    readonly protocol: 'TCP' | 'UDP';
    readonly address: string;
    readonly port: number;
  }): Promise<{ readonly isAllowed: boolean; readonly reason?: string }>;
}

export interface ShellUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** Without its first group. */
  readonly groups?: readonly number[];
}

export interface ClusterDnsPlaces {
  readonly service: string;
  readonly endpoints: readonly { readonly host: string; readonly port: number }[];
}

export interface Streams {
  readonly input: Input;
  out(text: string): void;
  err(text: string): void;
  /** Undefined while output is taken; else a promise of the moment when it is again. */
  ready?(): Promise<void> | undefined;
}

/** One command in progress. */
export interface Process extends Streams {
  readonly host: ShellHost;
  /** Without the name of the command. */
  readonly args: readonly string[];
  readonly environment: Map<string, string>;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly isTerminal: boolean;
}

export type Command = (process: Process) => Promise<number> | number;

/** The process was killed; anyone who runs it answers 137. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

export const resolvePath = (process: Pick<Process, 'cwd'>, path: string): string => {
  const full = posix.resolve(process.cwd, path);
  return full.length > 1 ? full.replace(/\/$/, '') : full;
};

/** Waits on the host's clock; Killed when the process is. */
export const pause = (process: Pick<Process, 'host' | 'signal'>, durationMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    if (process.signal.aborted) return reject(new Killed('killed'));
    const stop = (): void => {
      timer?.dispose();
      waking?.dispose();
      reject(new Killed('killed'));
    };
    const end = (): void => {
      process.signal.removeEventListener('abort', stop);
      timer?.dispose();
      waking?.dispose();
      resolve();
    };
    process.signal.addEventListener('abort', stop, { once: true });
    // A shell would wait for its command; jobs in the background, which `wait` waits for, run in the foreground here.
    const waking = process.host.isInit ? process.host.signals?.onSignal(end) : undefined;
    // Longer than a timer can be: only the kill ends it.
    const timer = durationMs > 2 ** 31 - 1 ? undefined : process.host.clock.after(durationMs, end);
  });

/** The content of a file as text, paid for by its length. */
export const readText = (process: Pick<Process, 'host'>, path: string): string => {
  const bytes = process.host.fileSystem.read(path);
  process.host.budget.charge(bytes.length);
  return bounded(textOf(bytes));
};

/** `/usr/bin/env` and `env` are the same command. */
export const commandName = (path: string): string => path.replace(/^\/(usr\/)?(local\/)?s?bin\//, '');
