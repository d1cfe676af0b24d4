import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { evaluateInPage } from './devtools.ts';
import { ownFolder } from './own-folder.ts';
import { until } from './until.ts';

const PACKAGE = 'pilothouse';
const DESKTOP_ENTRY = '/usr/share/applications/pilothouse.desktop';
/** Every Debian has this user; it owns nothing. */
const NOBODY = 65534;

export const isInstalled = (): boolean =>
  spawnSync('dpkg-query', ['-W', '-f', '${Status}', PACKAGE], { encoding: 'utf8' }).stdout?.includes(
    'ok installed',
  ) ?? false;

/** Never over a copy that somebody uses. */
export const mayInstall = (): boolean =>
  process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/dpkg') && !isInstalled();

/** Without waiting for the disk after each file: these files need not survive a power failure. */
export const dpkg = (...args: string[]): string =>
  execFileSync('dpkg', ['--force-unsafe-io', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** The program of the desktop entry; `%U` is what a launcher would put there. */
export const desktopCommand = (): string[] =>
  (/^Exec=(.*)$/m.exec(readFileSync(DESKTOP_ENTRY, 'utf8'))?.[1] ?? '')
    .split(' ')
    .filter((word) => word !== '%U');

/** An ordinary user with a home of their own. */
export interface OrdinaryUser {
  readonly home: string;
  readonly dataDirectory: string;
  start(command: readonly string[], args: readonly string[]): ChildProcess;
  /** Runs a program to its end. */
  run(command: string, ...args: string[]): { readonly code: number | null; readonly output: string };
}

export const ordinaryUser = (env: Readonly<Record<string, string>>): OrdinaryUser => {
  const data = '.local/share/pilothouse';
  const home = ownFolder('pilothouse-user-', data);
  chownSync(home, NOBODY, NOBODY);
  const options = { cwd: home, uid: NOBODY, gid: NOBODY, env: { ...env, HOME: home, USER: 'nobody' } };
  return {
    home,
    dataDirectory: join(home, data),
    start: ([program = '', ...words], args) =>
      spawn(program, [...words, ...args], { ...options, stdio: ['ignore', 'ignore', 'pipe'] }),
    run(command, ...args) {
      const { status, stdout, stderr } = spawnSync(command, args, { ...options, encoding: 'utf8' });
      return { code: status, output: `${stdout}${stderr}` };
    },
  };
};

/** Clicks a button of the page by its text, once it is there. */
export const clickIn = (address: string, selector: string, text: string): Promise<unknown> =>
  until(`${text} to click`, () =>
    evaluateInPage(
      address,
      `(() => {
        const found = [...document.querySelectorAll(${JSON.stringify(selector)})]
          .find((element) => element.textContent.trim() === ${JSON.stringify(text)} && !element.disabled);
        found?.click();
        return found !== undefined;
      })()`,
    ),
  );

/** What the kernel says of a process: whether its system calls are filtered, and in which process namespace it is. */
export const confinementOf = (pid: number): { readonly seccomp: string; readonly namespaces: number } => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    seccomp: /^Seccomp:\s*(\d)/m.exec(status)?.[1] ?? '',
    namespaces: (/^NSpid:\s*(.*)$/m.exec(status)?.[1] ?? '').split(/\s+/).length,
  };
};
