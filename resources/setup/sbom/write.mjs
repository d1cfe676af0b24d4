import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceDateEpoch } from '../linux/epoch.mjs';
import { DIST, ROOT } from '../paths.mjs';
import { cycloneDx } from './cyclonedx.mjs';
import { licenceList } from './licences.mjs';
import { readLock, shippedPackages } from './packages.mjs';

/** The names of bundled packages, from the last build. */
const BUNDLED = join(DIST, 'bundled-packages.json');
export const SBOM_FILE = 'sbom.cdx.json';
export const LICENCES_FILE = 'third-party-licences.txt';

const productVersion = () => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;

const documents = async (packages, epoch) => ({
  [SBOM_FILE]: `${JSON.stringify(cycloneDx({ version: productVersion(), packages, epoch }), undefined, 2)}\n`,
  [LICENCES_FILE]: licenceList(packages),
});

/** After a build: beside what was built, for the npm package. */
export const writeBuildDocuments = async (bundled) => {
  writeFileSync(BUNDLED, `${JSON.stringify(bundled)}\n`);
  const packages = shippedPackages(readLock(), bundled);
  const files = await documents(packages, await sourceDateEpoch());
  for (const [name, text] of Object.entries(files)) writeFileSync(join(DIST, name), text);
};

const electronOf = (folder) => {
  const file = join(folder, 'version');
  const version = existsSync(file)
    ? readFileSync(file, 'utf8').trim().replace(/^v/, '')
    : readLock().packages['node_modules/electron'].version;
  return {
    name: 'electron',
    version,
    licence: 'MIT',
    type: 'framework',
    purl: `pkg:npm/electron@${version}`,
  };
};

/** For an installed app: the build and the Electron that runs it, whose own list is LICENSES.chromium.html beside it. */
export const installedDocuments = async (unpacked, epoch) => {
  const bundled = JSON.parse(readFileSync(BUNDLED, 'utf8'));
  const packages = [electronOf(unpacked), ...shippedPackages(readLock(), bundled)];
  return documents(packages, epoch);
};
