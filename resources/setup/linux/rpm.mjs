/** An RPM package, with rpmbuild alone. */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../progress.mjs';
import { run } from '../run.mjs';
import { APP_DIRECTORY, maintainerScript, stageSystemTree } from './tree.mjs';

export const RPM_ARCHITECTURES = { x64: 'x86_64', arm64: 'aarch64' };

const REQUIRES = ['alsa-lib', 'at-spi2-atk', 'cups-libs', 'gtk3', 'libdrm', 'libXtst', 'mesa-libgbm', 'nss'];

/** rpm orders `~` before everything, as dpkg does; a hyphen separates the release. */
const rpmVersion = (version) => version.replace('-', '~');

/** Folders of our own, then every file; shared folders belong to other packages. */
const filesOf = (stage) => {
  const lines = [];
  for (const entry of readdirSync(stage, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name).slice(stage.length);
    const isOwn = path === APP_DIRECTORY || path.startsWith(`${APP_DIRECTORY}/`);
    if (entry.isDirectory()) {
      if (isOwn || path === '/usr/share/doc/pilothouse') lines.push(`%dir "${path}"`);
    } else if (path === `${APP_DIRECTORY}/chrome-sandbox`) lines.push(`%attr(4755, root, root) "${path}"`);
    else lines.push(`"${path}"`);
  }
  return lines.sort();
};

const body = (name) =>
  maintainerScript(name)
    .replace(/^#!.*\n/, '')
    .trim();

const spec = ({ version, stage, description }) => `Name: pilothouse
Version: ${rpmVersion(version)}
Release: 1
Summary: Operator console with its own Kubernetes control plane
License: Apache-2.0
URL: https://pilothouse.dev
${REQUIRES.map((name) => `Requires: ${name}`).join('\n')}
Recommends: libnotify
Recommends: libsecret
Recommends: xdg-utils
AutoReqProv: no

%description
${description}.

%post
${body('postinst')}

%preun
${body('prerm')}

%postun
${body('postrm')}

%files
%defattr(-, root, root, -)
${filesOf(stage).join('\n')}
`;

/** `compression`: rpm's payload, such as w19.zstdio. */
export const buildRpm = async ({
  unpacked,
  output,
  version,
  arch,
  epoch,
  description,
  compression = 'w19.zstdio',
}) => {
  const work = join(output, '.rpm');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const stage = join(work, 'root');
  await stageSystemTree({ unpacked, stage, epoch });
  const specFile = join(work, 'pilothouse.spec');
  writeFileSync(specFile, spec({ version, stage, description }));
  const defines = {
    _topdir: work,
    _rpmdir: join(work, 'out'),
    _rpmfilename: '%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm',
    _binary_payload: compression,
    // The program is finished: nothing is stripped, compressed or looked for in it.
    __os_install_post: '%{nil}',
    debug_package: '%{nil}',
    _build_id_links: 'none',
    _buildhost: 'localhost',
    use_source_date_epoch_as_buildtime: '1',
    clamp_mtime_to_source_date_epoch: '1',
  };
  const { code, output: said } = await run(
    'rpmbuild',
    [
      '-bb',
      '--noclean',
      '--target',
      `${RPM_ARCHITECTURES[arch]}-linux`,
      '--buildroot',
      stage,
      ...Object.entries(defines).flatMap(([name, value]) => ['--define', `${name} ${value}`]),
      specFile,
    ],
    { capture: true, env: { SOURCE_DATE_EPOCH: String(epoch) } },
  );
  const built = code === 0 ? readdirSync(join(work, 'out'))[0] : undefined;
  if (built === undefined)
    throw new SetupError(`rpmbuild failed: ${said.trim().split('\n').slice(-5).join('\n')}`);
  const file = join(output, built);
  renameSync(join(work, 'out', built), file);
  rmSync(work, { recursive: true, force: true });
  return file;
};
