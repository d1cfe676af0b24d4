import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { _electron, type ElectronApplication, type Page } from 'playwright-core';
import type { TestHook } from '../../main/app/test-hook.ts';
import { resolveElectron } from '../../resources/setup/electron.mjs';
import { openDisplay, type Display } from './display.ts';
import { ownFolder } from './own-folder.ts';

/** Limits are for what hangs: a start of one second takes half a minute beside other suites. */
const LAUNCH_TIMEOUT_MS = 180_000;
/** Well below a test's own limit, so that a failure names the step that waited. */
const STEP_TIMEOUT_MS = 120_000;

export const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Benches are bundled into another folder, so the way up is searched, not counted. */
function findRoot(from: string): string {
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'electron-builder.yml'))) return folder;
  throw new Error(`no repository above ${from}`);
}

/** As root Chromium runs only without its process sandbox. The app itself never turns it off. */
export const SANDBOX_ARGUMENTS = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

export const electronExecutable = async (): Promise<string> => {
  const given = process.env['PILOTHOUSE_TEST_ELECTRON'];
  if (given) return given;
  const electron = await resolveElectron({ forTests: true });
  if ('missing' in electron) throw new Error(electron.missing);
  return electron.executable;
};

/** A user of the test's own: home, data folder, screen. Nothing of the machine's user is read or written. */
export interface Desk {
  readonly home: string;
  readonly dataDirectory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly executable: string;
  close(): Promise<void>;
}

const plainEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !/^(XDG_|NODE_OPTIONS|VITEST|ELECTRON_|DBUS_)/.test(entry[0]),
    ),
  );

export const openDesk = async (): Promise<Desk> => {
  if (!existsSync(join(ROOT, 'dist/main/main.js')) || !existsSync(join(ROOT, 'dist/renderer/index.html')))
    throw new Error('the app is not built; run npm run build');
  const executable = await electronExecutable();
  const display: Display = await openDisplay();
  const home = ownFolder('pilothouse-desk-', 'data');
  const dataDirectory = join(home, 'data');
  mkdirSync(join(home, '.config'), { recursive: true });
  return {
    home,
    dataDirectory,
    executable,
    env: {
      ...plainEnvironment(),
      ...display.env,
      HOME: home,
      // No session bus in a test: Chromium would start one and leave it running.
      DBUS_SESSION_BUS_ADDRESS: 'disabled:',
      PILOTHOUSE_TEST: '1',
    },
    async close() {
      await display.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

export interface Desktop {
  readonly app: ElectronApplication;
  readonly page: Page;
  /** What the app tells tests about itself. */
  hook<T>(read: (hook: TestHook) => T): Promise<T>;
  log(): string;
  close(): Promise<void>;
}

/** Not among the package's exports, but what the driver itself passes when it picks the executable. */
const LOADER = join(ROOT, 'node_modules/playwright-core/lib/server/electron/loader.js');

/** Starts the built app as a person would and waits for its window. */
export const launchDesktop = async (desk: Desk, args: readonly string[] = []): Promise<Desktop> => {
  const app = await _electron.launch({
    executablePath: desk.executable,
    // The loader holds `ready` back until the driver has attached; without it the first page may wait for ever.
    args: ['-r', LOADER, ...SANDBOX_ARGUMENTS, ROOT, '--data', desk.dataDirectory, ...args],
    env: { ...desk.env },
    cwd: desk.home,
    timeout: LAUNCH_TIMEOUT_MS,
    colorScheme: null,
  });
  const page = await app.firstWindow({ timeout: LAUNCH_TIMEOUT_MS });
  page.setDefaultTimeout(STEP_TIMEOUT_MS);
  await page.waitForLoadState('domcontentloaded');
  return {
    app,
    page,
    hook: (read) =>
      app.evaluate(
        (_electronModule, source) =>
          (0, eval)(`(${source})`)(
            (globalThis as unknown as { __pilothouseTest: TestHook }).__pilothouseTest,
          ),
        String(read),
      ),
    log: () => readFileSync(join(desk.dataDirectory, 'desktop/desktop.log'), 'utf8'),
    close: () => app.close(),
  };
};

/** Starts the app without a driver, as a second start is. */
export const spawnDesktop = (desk: Desk, args: readonly string[] = []): ChildProcess => {
  const child = spawn(desk.executable, [...SANDBOX_ARGUMENTS, ROOT, '--data', desk.dataDirectory, ...args], {
    cwd: desk.home,
    env: { ...desk.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr.resume();
  return child;
};

export const exitCodeOf = async (child: ChildProcess): Promise<number | null> =>
  child.exitCode ?? ((await once(child, 'exit')) as [number | null])[0];

export const endProcess = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  const giveUp = setTimeout(() => child.kill('SIGKILL'), STEP_TIMEOUT_MS);
  child.kill('SIGTERM');
  await exited;
  clearTimeout(giveUp);
};

/** The address at which an app started with `--remote-debugging-port=0` can be looked at from outside. */
export const devToolsAddressOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let seen = '';
    child.stderr?.on('data', (chunk) => {
      seen += String(chunk);
      const address = /DevTools listening on (ws:\S+)/.exec(seen)?.[1];
      if (address) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`the app ended with ${code}:\n${seen}`)));
  });

/** The processes of Chromium that show pages of this app, from the process table. */
export const rendererPidsOf = (child: ChildProcess): number[] => {
  const parents = new Map<number, { parent: number; command: string }>();
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      parents.set(pid, { parent, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8') });
    } catch {
      continue; // ended between listing and reading
    }
  }
  const descends = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at)?.parent)
      if (at === child.pid) return true;
    return false;
  };
  return [...parents]
    .filter(([pid, { command }]) => command.includes('--type=renderer') && descends(pid))
    .map(([pid]) => pid);
};
