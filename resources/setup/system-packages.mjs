/** Debian packages that test layers need, installed when we may and named when we may not. */
import { existsSync } from 'node:fs';
import { step } from './progress.mjs';
import { run } from './run.mjs';

export const ELECTRON_LIBRARIES = [
  'xvfb',
  'xauth',
  'dbus',
  'fonts-dejavu-core',
  'libgtk-3-0',
  'libnss3',
  'libasound2',
  'libgbm1',
  'libxss1',
  'libxtst6',
  'libatk-bridge2.0-0',
  'libcups2',
  'libdrm2',
  'libnotify4',
  'libsecret-1-0',
];

/** A container runtime, what its network needs, and a program for the only image of the tests. */
export const CONTAINER_PACKAGES = [
  'containerd',
  'runc',
  'containernetworking-plugins',
  'busybox-static',
  'iproute2',
  'nftables',
  'conntrack',
];

const APT_TIMEOUT_MS = 10 * 60_000;

const hasDpkg = () => existsSync('/usr/bin/dpkg-query');
const mayInstall = () =>
  process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

const missingOf = async (names) => {
  if (!hasDpkg()) return names;
  const { output } = await run('dpkg-query', ['-W', '-f', '${Package} ${Provides} ${Status}\n'], {
    capture: true,
  });
  const installed = output.split('\n').filter((line) => line.endsWith('install ok installed'));
  const has = (name) => installed.some((line) => line.split(/[\s,]+/).includes(name));
  return names.filter((name) => !has(name));
};

/** The last call: layers side by side take turns, because apt lets only one install at a time. */
let turn = Promise.resolve();

/** The packages of `names` that are still missing afterwards; empty when the layer can run. */
export const ensureSystemPackages = (names) => {
  const ours = turn.then(() => installMissing(names));
  turn = ours.catch(() => undefined);
  return ours;
};

const installMissing = async (names) => {
  const missing = await missingOf(names);
  if (missing.length === 0 || !mayInstall()) return missing;
  await step(`Installing ${missing.length} system packages`, async () => {
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update', '-qq'], { capture: true, env, timeoutMs: APT_TIMEOUT_MS });
    const { code, output } = await run(
      'apt-get',
      ['install', '-y', '-qq', '--no-install-recommends', ...missing],
      {
        capture: true,
        env,
        timeoutMs: APT_TIMEOUT_MS,
      },
    );
    if (code !== 0) process.stderr.write(`${output.trim().split('\n').slice(-3).join('\n')}\n`);
  });
  return missingOf(names);
};
