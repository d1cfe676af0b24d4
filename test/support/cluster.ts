import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import { connect, loadKubeconfig, type OwnedClient } from '../../core/client/index.ts';
import { tied } from './tied.ts';

/** The built command line: what a user starts. */
const CLI = join(process.env['PILOTHOUSE_DIST'] ?? join(process.cwd(), 'dist'), 'cli/cli.js');
const READY_LIMIT_MS = 230_000;

export interface CommandOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One command to its end. */
export const pilothouse = async (...args: readonly string[]): Promise<CommandOutcome> => {
  const child = spawn(...tied(process.execPath, [CLI, ...args]), { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
};

export interface RunningCluster {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<CommandOutcome>;
}

/** A command that continues until it is ended. */
export const startPilothouse = (...args: readonly string[]): RunningCluster =>
  startCommand([process.execPath, CLI, ...args]);

/** The same on another machine, by what runs a command there. */
export const startPilothouseIn = (
  enter: (command: string, ...args: string[]) => readonly [string, ...string[]],
  ...args: readonly string[]
): RunningCluster => startCommand(enter(process.execPath, CLI, ...args));

const startCommand = ([command, ...args]: readonly [string, ...string[]]): RunningCluster => {
  const child = spawn(...tied(command, args), { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'close');
  return {
    pid: child.pid!,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    async end(signal) {
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      return { code, stdout, stderr };
    },
  };
};

/** `pilothouse up`; resolves when it says that it is ready. */
export const up = (...args: readonly string[]): Promise<RunningCluster> => upOf(CLI, ...args);

/** The same of another command line, such as an installed one. */
export const upOf = async (program: string, ...args: readonly string[]): Promise<RunningCluster> => {
  const child = spawn(...tied(process.execPath, [program, 'up', ...args]), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code]): CommandOutcome => ({
    code: code as number | null,
    stdout,
    stderr,
  }));
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGTERM');
      reject(new Error(`up is not ready in time\n${stdout}${stderr}`));
    }, READY_LIMIT_MS);
    child.stdout.on('data', () => {
      if (!/^ready in /m.test(stdout)) return;
      clearTimeout(timer);
      resolve();
    });
    void ended.then(() => {
      clearTimeout(timer);
      reject(new Error(`up ended before it was ready\n${stdout}${stderr}`));
    });
  });
  return {
    pid: child.pid!,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
};

/** A client with the administrator's kubeconfig, through the load balancer. */
export const adminClient = async (dataDirectory: string): Promise<OwnedClient> =>
  connect(await loadKubeconfig(join(dataDirectory, 'kubeconfig', 'admin.conf')), {
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    userAgent: 'test',
  });
