import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageApp, packagedExecutable, packageForLinux } from '../../resources/setup/package.mjs';
import { evaluateInPage, pageText, screenshotOf } from '../support/devtools.ts';
import {
  devToolsAddressOf,
  endProcess,
  exitCodeOf,
  openDesk,
  rendererPidsOf,
  ROOT,
  SANDBOX_ARGUMENTS,
  type Desk,
} from '../support/electron.ts';
import {
  clickIn,
  confinementOf,
  desktopCommand,
  dpkg,
  isInstalled,
  mayInstall,
  ordinaryUser,
} from '../support/installed-app.ts';
import { until } from '../support/until.ts';

const PACKAGE_LIMIT_MS = 300_000;
const INSTALL_LIMIT_MS = 600_000;
const OUTPUT = join(ROOT, 'release/test');

let desk: Desk;
let executable: string;

/** Fresh means made after everything that goes into it. */
const isFresh = (): boolean => {
  const asar = join(executable, '../resources/app.asar');
  if (!existsSync(asar)) return false;
  const madeMs = statSync(asar).mtimeMs;
  return ['dist/main', 'dist/preload', 'dist/renderer', 'electron-builder.yml', 'package.json'].every(
    (input) => statSync(join(ROOT, input)).mtimeMs < madeMs,
  );
};

beforeAll(async () => {
  desk = await openDesk();
  executable = packagedExecutable(OUTPUT);
  if (!isFresh()) await packageApp({ forTests: true });
}, PACKAGE_LIMIT_MS);
afterAll(() => desk?.close());

const launch = (args: readonly string[], env: Record<string, string> = {}): ChildProcess =>
  spawn(executable, [...SANDBOX_ARGUMENTS, '--data', desk.dataDirectory, ...args], {
    cwd: desk.home,
    env: { ...desk.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });

test('the switches in the binary are set', async () => {
  const wire = await getCurrentFuseWire(executable);
  const isOn = (fuse: FuseV1Options) => String.fromCharCode(Number(wire[fuse])) === '1';
  expect({
    runAsNode: isOn(FuseV1Options.RunAsNode),
    cookieEncryption: isOn(FuseV1Options.EnableCookieEncryption),
    nodeOptions: isOn(FuseV1Options.EnableNodeOptionsEnvironmentVariable),
    inspect: isOn(FuseV1Options.EnableNodeCliInspectArguments),
    asarIntegrity: isOn(FuseV1Options.EnableEmbeddedAsarIntegrityValidation),
    onlyAsar: isOn(FuseV1Options.OnlyLoadAppFromAsar),
    fileProtocol: isOn(FuseV1Options.GrantFileProtocolExtraPrivileges),
  }).toEqual({
    runAsNode: false,
    cookieEncryption: true,
    nodeOptions: false,
    inspect: false,
    asarIntegrity: true,
    onlyAsar: true,
    fileProtocol: false,
  });
});

test('packages with a native part lie beside the archive, and nothing else does', () => {
  const resources = join(executable, '../resources');
  const beside = (readdirSync(join(resources, 'app.asar.unpacked'), { recursive: true }) as string[]).map(
    (path) => path.replaceAll('\\', '/'),
  );
  const packageOf = (path: string) => /^node_modules\/(@[^/]+\/[^/]+|[^@/][^/]*)\/./.exec(path)?.[1];
  const packages = new Set(beside.map(packageOf).filter((name) => name !== undefined));
  const native = new Set(beside.filter((path) => path.endsWith('.node')).map(packageOf));
  expect([...native].some((name) => name?.startsWith('@lmdb/'))).toBe(true);
  expect([...packages].filter((name) => !native.has(name))).toEqual([]);
  expect(readdirSync(resources).sort()).toEqual(['app.asar', 'app.asar.unpacked']);
});

test('the packaged app shows its console, and no one can look into its main process', async () => {
  const child = launch(['--remote-debugging-port=0', '--inspect=0'], { NODE_OPTIONS: '--inspect=0' });
  let said = '';
  child.stderr?.on('data', (chunk) => (said += String(chunk)));
  try {
    const address = await devToolsAddressOf(child);
    await expect.poll(() => pageText(address).catch(() => '')).toContain('No cluster yet');
    expect([
      await evaluateInPage(address, 'location.href'),
      await evaluateInPage(address, 'typeof require + typeof process + typeof window.pilothouse.send'),
      said.includes('Debugger listening'),
    ]).toEqual(['pilothouse-app://console/#/', 'undefinedundefinedfunction', false]);
    mkdirSync(join(ROOT, 'test-results'), { recursive: true });
    const image = await screenshotOf(address);
    writeFileSync(join(ROOT, 'test-results/packaged.png'), image);
    expect(image.byteLength).toBeGreaterThan(10_000);
  } finally {
    await endProcess(child);
  }
});

test('the packaged app does not run as Node, as a bare Electron does', async () => {
  const runsAsNode = async (program: string): Promise<boolean> => {
    const probe = join(desk.home, `ran-${basename(program)}.txt`);
    const child = spawn(program, ['-e', `require("fs").writeFileSync(${JSON.stringify(probe)}, "")`], {
      cwd: desk.home,
      env: { ...desk.env, ELECTRON_RUN_AS_NODE: '1' },
      stdio: 'ignore',
    });
    // Not as Node it opens its window (or, as root without a switch, refuses to): either way it leaves its log first.
    const log = join(desk.home, '.local/share/pilothouse/desktop/desktop.log');
    const ended = exitCodeOf(child).then(() => true);
    const settled = async () => existsSync(log) || (await Promise.race([ended, Promise.resolve(false)]));
    await expect.poll(settled).toBe(true);
    await endProcess(child);
    return existsSync(probe);
  };
  expect([await runsAsNode(desk.executable), await runsAsNode(executable)]).toEqual([true, false]);
});

/** Another version of the same app, as an update brings it; no one downloads it, so it is not compressed. */
const debOf = async (version: string): Promise<string> => {
  const [deb] = await packageForLinux(['deb'], OUTPUT, { version, compression: 'none' });
  return deb!;
};

test.runIf(mayInstall())(
  'the deb is installed, runs for an ordinary user with the sandbox on, is upgraded under a running cluster, and leaves only data behind',
  { timeout: INSTALL_LIMIT_MS },
  async ({ onTestFinished }) => {
    const user = ordinaryUser(desk.env);
    onTestFinished(() => rmSync(user.home, { recursive: true, force: true }));
    onTestFinished(() => void dpkg('--purge', 'pilothouse'));
    const startApp = async (): Promise<{ child: ChildProcess; address: string }> => {
      const child = user.start(desktopCommand(), ['--remote-debugging-port=0']);
      onTestFinished(() => endProcess(child));
      return { child, address: await devToolsAddressOf(child) };
    };
    const clusterState = (): unknown => {
      const [folder] = readdirSync(join(user.dataDirectory, 'clusters'));
      const data = join(user.dataDirectory, 'clusters', folder ?? '');
      const { output } = user.run('pilothouse', 'status', '--data', data, '-o', 'json');
      return (JSON.parse(output) as { phase?: string }).phase;
    };
    const ready = (): Promise<unknown> =>
      until('a ready cluster', async () => clusterState() === 'ready', PACKAGE_LIMIT_MS);

    dpkg('--install', await debOf('9.0.0'));
    expect(user.run('pilothouse', 'version')).toEqual({
      code: 0,
      output: expect.stringContaining('pilothouse '),
    });

    const first = await startApp();
    await clickIn(first.address, 'button', 'Settings');
    await clickIn(first.address, '[aria-label="Control planes"] *', '1');
    await clickIn(first.address, 'button', 'Create cluster');
    await ready();
    const [page] = rendererPidsOf(first.child);
    const confined = confinementOf(page!);
    const ours = confinementOf(first.child.pid!);
    expect([confined.seccomp, confined.namespaces > ours.namespaces]).toEqual(['2', true]);

    dpkg('--install', await debOf('9.0.1'));
    expect([clusterState(), first.child.exitCode]).toEqual(['ready', null]);
    await endProcess(first.child);

    const second = await startApp();
    await ready();
    dpkg('--remove', 'pilothouse');
    expect([second.child.exitCode, isInstalled()]).toEqual([null, false]);
    await endProcess(second.child);
    const left = [
      '/opt/pilothouse',
      '/usr/bin/pilothouse',
      '/usr/share/applications/pilothouse.desktop',
    ].filter((path) => existsSync(path));
    const [cluster] = readdirSync(join(user.dataDirectory, 'clusters'));
    expect({ left, data: readdirSync(join(user.dataDirectory, 'clusters', cluster!)) }).toEqual({
      left: [],
      data: expect.arrayContaining(['cluster.yaml', 'hosts', 'pki']),
    });
  },
);
