/** A Debian package, with dpkg-deb alone. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../progress.mjs';
import { run } from '../run.mjs';
import { setTimes } from './epoch.mjs';
import { maintainerScript, stageSystemTree } from './tree.mjs';

export const DEB_ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };

/** What Chromium links to. The second names are those of Debian 13 and Ubuntu 24.04. */
const DEPENDS = [
  'libasound2 | libasound2t64',
  'libatk-bridge2.0-0 | libatk-bridge2.0-0t64',
  'libcups2 | libcups2t64',
  'libdrm2',
  'libgbm1',
  'libgtk-3-0 | libgtk-3-0t64',
  'libnss3',
  'libxtst6',
];
const RECOMMENDS = ['libnotify4', 'libsecret-1-0', 'xdg-utils'];
const BYTES_PER_KIB = 1024;

const installedKib = (folder) => {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) bytes += lstatSync(join(entry.parentPath, entry.name)).size;
  return Math.ceil(bytes / BYTES_PER_KIB);
};

/** Debian orders `~` before everything: 1.0.0~rc.1 comes before 1.0.0. */
export const debVersion = (version) => version.replace('-', '~');

const control = ({ version, arch, stage, description }) => `Package: pilothouse
Version: ${debVersion(version)}
Architecture: ${DEB_ARCHITECTURES[arch]}
Maintainer: The Pilothouse authors <noreply@pilothouse.dev>
Installed-Size: ${installedKib(stage)}
Depends: ${DEPENDS.join(', ')}
Recommends: ${RECOMMENDS.join(', ')}
Section: admin
Priority: optional
Homepage: https://pilothouse.dev
Description: operator console with its own Kubernetes control plane
 ${description}.
`;

/** `compression`: of dpkg-deb; tests need no small file. */
export const buildDeb = async ({
  unpacked,
  output,
  version,
  arch,
  epoch,
  description,
  compression = 'xz',
}) => {
  const stage = join(output, '.deb');
  await stageSystemTree({ unpacked, stage, epoch });
  const folder = join(stage, 'DEBIAN');
  const text = control({ version, arch, stage, description });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'control'), text);
  for (const name of ['postinst', 'prerm', 'postrm']) {
    writeFileSync(join(folder, name), maintainerScript(name));
    chmodSync(join(folder, name), 0o755);
  }
  setTimes(folder, epoch);
  const file = join(output, `pilothouse_${debVersion(version)}_${DEB_ARCHITECTURES[arch]}.deb`);
  const { code, output: said } = await run(
    'dpkg-deb',
    ['--root-owner-group', `-Z${compression}`, '--build', stage, file],
    { capture: true, env: { SOURCE_DATE_EPOCH: String(epoch) } },
  );
  rmSync(stage, { recursive: true, force: true });
  if (code !== 0) throw new SetupError(`dpkg-deb failed: ${said.trim()}`);
  return file;
};
