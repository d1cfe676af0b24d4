import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../paths.mjs';
import { SetupError } from '../progress.mjs';

export const readLock = () => JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));

const isInstalledOn = ({ os, cpu }, platform, arch) =>
  (os === undefined || os.includes(platform)) && (cpu === undefined || cpu.includes(arch));

const described = (path, { version, license, integrity }) => ({
  name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
  path,
  version,
  licence: license ?? 'NOASSERTION',
  integrity,
});

/**
 * What a user receives: packages that the bundler took in, and runtime dependencies with their own, of one platform where
 * they have a native part. Sorted by name.
 */
export const shippedPackages = (lock, bundled, { platform = process.platform, arch = process.arch } = {}) => {
  const byPath = lock.packages;
  const found = new Map();
  for (const name of bundled) {
    const path = `node_modules/${name}`;
    if (!byPath[path]) throw new SetupError(`${name} is in the build but not in package-lock.json`);
    found.set(path, described(path, byPath[path]));
  }
  for (const [path, entry] of Object.entries(byPath))
    if (path !== '' && entry.dev !== true && isInstalledOn(entry, platform, arch))
      found.set(path, described(path, entry));
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
};
