import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { tied } from './tied.ts';

/** The built command line: what a user starts. */
const CLI = join(process.cwd(), 'dist/cli/cli.js');
const END_LIMIT_MS = 100_000;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One command of ours as a process, with all it says. */
export interface CommandProcess {
  readonly child: ChildProcess;
  readonly stderr: string;
  readonly ended: Promise<Ended>;
  /** Resolves when a line on stderr matches; rejects when the process ends before. */
  until(pattern: RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<Ended>;
}

export const startCommand = (...args: readonly string[]): CommandProcess => {
  const child = spawn(...tied(process.execPath, [CLI, ...args]), { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code]): Ended => ({
    code: code as number | null,
    stdout,
    stderr,
  }));
  return {
    child,
    get stderr() {
      return stderr;
    },
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(stderr)) return;
          child.stderr.off('data', look);
          resolve();
        };
        child.stderr.on('data', look);
        void ended.then(() => reject(new Error(`${args.join(' ')} ended: ${stderr}`)));
        look();
      }),
    kill(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended;
    },
  };
};

/** A command that ends on its own, or is ended after a while: then its code is null. */
export const runCommand = async (...args: readonly string[]): Promise<Ended> => {
  const { child, ended } = startCommand(...args);
  const limit = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
  try {
    return await ended;
  } finally {
    clearTimeout(limit);
  }
};
