import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveKubernetesTools } from '../../resources/setup/kubectl.mjs';

/** More than any `--timeout` that a test gives, so that a command tells on its own what it waited for. */
const RUN_LIMIT_MS = 240_000;

export interface ToolOutcome {
  /** -1 when it was killed. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ToolOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

const runTool = (
  executable: string,
  args: readonly string[],
  options: ToolOptions & { readonly env: Readonly<Record<string, string>> },
): Promise<ToolOutcome> =>
  new Promise((resolve, reject) => {
    const child = spawn(executable, args, {
      cwd: options.cwd,
      env: { PATH: process.env['PATH'] ?? '', ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), RUN_LIMIT_MS);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    child.stdin.on('error', () => undefined); // a command may end without reading what it was given
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? -1, stdout, stderr });
    });
    child.stdin.end(options.input ?? '');
  });

/** A command that continues until it is stopped, such as a watch. */
export interface RunningTool {
  /** Resolves with all that was printed when it satisfies; fails when the command ends before. */
  until(isEnough: (stdout: string) => boolean): Promise<string>;
  stop(): Promise<void>;
}

const startTool = (
  executable: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): RunningTool => {
  const child = spawn(executable, args, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  return {
    until: (isEnough) =>
      new Promise((resolve, reject) => {
        const fail = (why: string): void => {
          settle();
          reject(new Error(`${args.join(' ')} ${why}: ${stdout}${stderr}`));
        };
        const look = (): void => {
          if (!isEnough(stdout)) return;
          settle();
          resolve(stdout);
        };
        const onClose = (): void => fail('ended');
        const timer = setTimeout(() => fail('did not print what was awaited'), RUN_LIMIT_MS);
        const settle = (): void => {
          clearTimeout(timer);
          child.stdout.off('data', look);
          child.off('close', onClose);
        };
        child.stdout.on('data', look);
        child.once('close', onClose);
        look();
      }),
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
};

/** One kubectl and one helm with a kubeconfig and caches of their own. */
export interface KubernetesClient {
  readonly minor: number;
  readonly kubeconfigPath: string;
  kubectl(args: readonly string[], options?: ToolOptions): Promise<ToolOutcome>;
  helm(args: readonly string[], options?: ToolOptions): Promise<ToolOutcome>;
  /** The same on a terminal, by util-linux's `script`; both outputs are one then. */
  terminal(args: readonly string[]): Promise<ToolOutcome>;
  /** A kubectl that continues, to be stopped by the caller. */
  start(...args: readonly string[]): RunningTool;
  /** The output of a kubectl command that must succeed. */
  ok(...args: readonly string[]): Promise<string>;
  /** The error of a kubectl command that must fail. */
  refusal(...args: readonly string[]): Promise<string>;
  json<T>(...args: readonly string[]): Promise<T>;
  close(): Promise<void>;
}

/** Real clients of one minor; undefined, with the reason on the console, where they cannot be had. */
export const kubernetesClient = async (
  minor: number,
  kubeconfig: string,
): Promise<KubernetesClient | undefined> => {
  const tools = await resolveKubernetesTools(minor, { log: (line) => console.log(line) });
  if ('missing' in tools) {
    console.log(`without kubectl 1.${minor}: ${tools.missing}`);
    return undefined;
  }
  const home = await mkdtemp(join(tmpdir(), 'pilothouse-kubectl-'));
  const kubeconfigPath = join(home, 'config');
  await writeFile(kubeconfigPath, kubeconfig, { mode: 0o600 });
  // A home of its own: caches of discovery in the user's would answer in our stead.
  const env = { HOME: home, KUBECONFIG: kubeconfigPath };
  const kubectl = (args: readonly string[], options: ToolOptions = {}): Promise<ToolOutcome> =>
    runTool(tools.kubectl, args, { ...options, env: { ...env, ...options.env } });
  const ok = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await kubectl(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  };
  return {
    minor,
    kubeconfigPath,
    kubectl,
    ok,
    terminal: (args) => {
      const line = [tools.kubectl, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
      return runTool('script', ['-qec', line, '/dev/null'], { env });
    },
    start: (...args) => startTool(tools.kubectl, args, env),
    helm: (args, options = {}) => runTool(tools.helm, args, { ...options, env: { ...env, ...options.env } }),
    async refusal(...args) {
      const { code, stdout, stderr } = await kubectl(args);
      if (code === 0) throw new Error(`kubectl ${args.join(' ')} succeeded: ${stdout}`);
      return stderr.trim();
    },
    json: async <T>(...args: readonly string[]) => JSON.parse(await ok(...args, '-o', 'json')) as T,
    close: () => rm(home, { recursive: true, force: true }),
  };
};
