/** Packages for Linux from an unpacked app. */
import { ensureSystemPackages } from '../system-packages.mjs';
import { SetupError } from '../progress.mjs';
import { run } from '../run.mjs';
import { buildDeb } from './deb.mjs';
import { sourceDateEpoch } from './epoch.mjs';
import { buildRpm } from './rpm.mjs';
import { buildTarGz } from './tar-gz.mjs';

const FORMATS = {
  deb: { build: buildDeb, tool: 'dpkg-deb', package: 'dpkg' },
  rpm: { build: buildRpm, tool: 'rpmbuild', package: 'rpm' },
  'tar.gz': { build: buildTarGz, tool: 'tar', package: 'tar' },
};

export const LINUX_TARGETS = Object.keys(FORMATS);

const ensureTool = async ({ tool, package: name }) => {
  const exists = async () => (await run(tool, ['--version'], { capture: true })).code === 0;
  if (await exists()) return;
  await ensureSystemPackages([name]);
  if (!(await exists()))
    throw new SetupError(`${tool} is missing; install the package ${name}, or name the targets you need`);
};

/** Builds the named targets and returns their files. `options` go to each format. */
export const buildLinuxPackages = async (targets, options) => {
  const files = [];
  const epoch = options.epoch ?? (await sourceDateEpoch());
  for (const target of targets) {
    await ensureTool(FORMATS[target]);
    files.push(await FORMATS[target].build({ ...options, epoch }));
  }
  return files;
};
