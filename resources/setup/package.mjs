/**
 * `npm run package [-- targets]`: the app as it is installed, in release/. On Linux deb, rpm and tar.gz are built with
 * the tools of the distribution, elsewhere and for AppImage electron-builder fetches its own the first time. `dir` is
 * the unpacked app. `--for-tests` may use the Electron of the tests and writes to release/test, which is never shipped.
 */
import { readFileSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap } from './bootstrap.mjs';
import { resolveElectron } from './electron.mjs';
import { LINUX_TARGETS, buildLinuxPackages } from './linux/index.mjs';
import { ROOT } from './paths.mjs';
import { runMain, SetupError, step } from './progress.mjs';

const TARGETS = {
  linux: [...LINUX_TARGETS, 'dir', 'AppImage'],
  win32: ['nsis', 'dir'],
  darwin: ['dmg', 'dir'],
};
const DEFAULT_TARGETS = { linux: LINUX_TARGETS, win32: ['nsis'], darwin: ['dmg'] };

const log = (line) => process.stderr.write(`${line}\n`);

const checkedTargets = (wanted) => {
  const known = TARGETS[process.platform];
  if (!known) throw new SetupError(`there is no package for ${process.platform}`);
  const strange = wanted.filter((target) => !known.includes(target));
  if (strange.length > 0)
    throw new SetupError(
      `cannot make ${strange.join(', ')} on ${process.platform}; there is ${known.join(', ')}`,
    );
  return wanted.length > 0 ? wanted : DEFAULT_TARGETS[process.platform];
};

/** Packages what is in dist/. Returns the folder that holds the unpacked app. */
export const packageApp = async ({
  targets = ['dir'],
  forTests = false,
  output = forTests ? 'release/test' : 'release',
} = {}) => {
  const electron = await resolveElectron({ forTests, log });
  if ('missing' in electron) throw new SetupError(electron.missing);
  const { build, Platform } = await import('electron-builder');
  const outDirectory = join(ROOT, output);
  if (forTests) rmSync(outDirectory, { recursive: true, force: true });
  await build({
    projectDir: ROOT,
    targets: Platform.current().createTarget(targets),
    publish: 'never',
    config: {
      electronDist: electron.dist,
      electronVersion: electron.version,
      directories: { output: outDirectory },
      // Electron's own welcome page: dead weight, and one more archive that no one checks.
      afterPack: ({ packager, appOutDir }) =>
        rm(join(packager.getResourcesDir(appOutDir), 'default_app.asar'), { force: true }),
      // An identity to sign with comes from the release machine's environment, never from a search of the keychain.
      ...(process.env.CSC_LINK || process.platform !== 'darwin' ? {} : { mac: { identity: null } }),
    },
  });
  return outDirectory;
};

const manifest = () => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Linux packages of the unpacked app in `outDirectory`; see linux/. Returns their files. */
export const packageForLinux = (targets, outDirectory, options = {}) => {
  const { version, description } = manifest();
  const unpacked = dirname(packagedExecutable(outDirectory));
  return buildLinuxPackages(targets, {
    unpacked,
    output: outDirectory,
    version,
    description,
    arch: process.arch,
    ...options,
  });
};

/** Where `packageApp` leaves what can be started. */
export const packagedExecutable = (outDirectory) => {
  const { productName } = manifest();
  if (process.platform === 'darwin') {
    const folder = process.arch === 'arm64' ? 'mac-arm64' : 'mac';
    return join(outDirectory, folder, `${productName}.app/Contents/MacOS/${productName}`);
  }
  if (process.platform === 'win32') return join(outDirectory, 'win-unpacked', `${productName}.exe`);
  return join(
    outDirectory,
    process.arch === 'arm64' ? 'linux-arm64-unpacked' : 'linux-unpacked',
    'pilothouse',
  );
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await runMain(async () => {
    const words = process.argv.slice(2);
    const forTests = words.includes('--for-tests');
    const targets = checkedTargets(words.filter((word) => word !== '--for-tests'));
    await bootstrap();
    const ours =
      process.platform === 'linux' ? targets.filter((target) => LINUX_TARGETS.includes(target)) : [];
    const theirs = targets.filter((target) => !ours.includes(target));
    const outDirectory = await step('Packaging', () =>
      packageApp({ targets: theirs.length > 0 ? theirs : ['dir'], forTests }),
    );
    const files =
      ours.length > 0
        ? await step(`Building ${ours.join(', ')}`, () => packageForLinux(ours, outDirectory))
        : [];
    for (const file of [packagedExecutable(outDirectory), ...files]) log(file);
  });
