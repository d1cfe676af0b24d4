/** The files of a package as they are installed. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { changelogReleases } from '../changelog.mjs';
import { DIST, ROOT } from '../paths.mjs';
import { SetupError } from '../progress.mjs';
import { run } from '../run.mjs';
import { installedDocuments } from '../sbom/write.mjs';
import { setTimes } from './epoch.mjs';

const ASSETS = join(ROOT, 'resources/packaging/linux');
const ICONS = join(ROOT, 'resources/icons');
/** The sizes that the hicolor theme has. */
const ICON_SIZES = [16, 24, 32, 48, 64, 128, 256, 512];
export const APP_DIRECTORY = '/opt/pilothouse';
const EXECUTABLE = 0o755;
const PLAIN = 0o644;
/** Chromium's helper makes the namespaces of its sandbox where users may not. */
const SETUID = 0o4755;

const put = (path, content, mode = PLAIN) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
};

const asset = (name, values) =>
  Object.entries(values).reduce(
    (text, [key, value]) => text.replaceAll(`@${key}@`, value),
    readFileSync(join(ASSETS, name), 'utf8'),
  );

const asked = new Map();
/** What the command line that goes into the package says of itself; asked once for all formats. */
const fromCommandLine = (args) => {
  const key = args.join(' ');
  const ask = async () => {
    const { code, output } = await run(process.execPath, [join(DIST, 'cli/cli.js'), ...args], {
      capture: true,
    });
    if (code !== 0) throw new SetupError(`pilothouse ${key} failed: ${output.trim()}`);
    return output;
  };
  if (!asked.has(key)) asked.set(key, ask());
  return asked.get(key);
};

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const releasesXml = () =>
  changelogReleases()
    .map(({ version, date }) => `    <release version="${escaped(version)}" date="${escaped(date)}"/>`)
    .join('\n');

/** Everything below `share/`, wherever that is. */
const putShare = async ({ share, appDirectory, unpacked, epoch }) => {
  const values = { APP: appDirectory, RELEASES: releasesXml() };
  put(join(share, 'applications/pilothouse.desktop'), asset('pilothouse.desktop', values));
  put(join(share, 'mime/packages/pilothouse.xml'), asset('mime.xml', values));
  put(join(share, 'metainfo/dev.pilothouse.console.metainfo.xml'), asset('metainfo.xml', values));
  for (const size of ICON_SIZES)
    put(
      join(share, `icons/hicolor/${size}x${size}/apps/pilothouse.png`),
      readFileSync(join(ICONS, `${size}x${size}.png`)),
    );
  put(join(share, 'icons/hicolor/scalable/apps/pilothouse.svg'), readFileSync(join(ICONS, 'icon.svg')));
  const [man, bash, zsh, fish] = await Promise.all(
    [['help', '-o', 'man'], ...['bash', 'zsh', 'fish'].map((shell) => ['completion', shell])].map(
      fromCommandLine,
    ),
  );
  put(join(share, 'man/man1/pilothouse.1.gz'), gzipSync(man, { level: 9 }));
  put(join(share, 'bash-completion/completions/pilothouse'), bash);
  put(join(share, 'zsh/vendor-completions/_pilothouse'), zsh);
  put(join(share, 'fish/vendor_completions.d/pilothouse.fish'), fish);
  put(join(share, 'doc/pilothouse/copyright'), readFileSync(join(ROOT, 'LICENSE')));
  put(
    join(share, 'doc/pilothouse/changelog.gz'),
    gzipSync(readFileSync(join(ROOT, 'CHANGELOG.md')), { level: 9 }),
  );
  for (const [name, text] of Object.entries(await installedDocuments(unpacked, epoch)))
    put(join(share, 'doc/pilothouse', name), text);
};

/** A program is executable, a folder can be entered, the rest is read; whatever the umask of the builder was. */
const normalizeModes = (folder) => {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const isProgram =
      entry.isDirectory() ||
      ['pilothouse', 'chrome_crashpad_handler', 'launcher'].includes(entry.name) ||
      /\.so(\.\d+)*$/.test(entry.name);
    chmodSync(path, isProgram ? EXECUTABLE : PLAIN);
  }
};

const putProgram = (unpacked, folder) => {
  if (!existsSync(join(unpacked, 'pilothouse')))
    throw new SetupError(`${unpacked} holds no packaged app; run npm run package -- dir`);
  mkdirSync(dirname(folder), { recursive: true });
  cpSync(unpacked, folder, { recursive: true, verbatimSymlinks: true });
  normalizeModes(folder);
  put(join(folder, 'bin/pilothouse'), readFileSync(join(ASSETS, 'launcher')), EXECUTABLE);
  const sandbox = join(folder, 'chrome-sandbox');
  if (existsSync(sandbox)) chmodSync(sandbox, SETUID);
};

/** The root of what a system package installs. */
export const stageSystemTree = async ({ unpacked, stage, epoch }) => {
  rmSync(stage, { recursive: true, force: true });
  putProgram(unpacked, join(stage, APP_DIRECTORY));
  await putShare({ share: join(stage, 'usr/share'), appDirectory: APP_DIRECTORY, unpacked, epoch });
  put(join(stage, 'usr/lib/systemd/system/pilothouse.service'), asset('pilothouse.service', {}));
  mkdirSync(join(stage, 'usr/bin'), { recursive: true });
  symlinkSync(`${APP_DIRECTORY}/bin/pilothouse`, join(stage, 'usr/bin/pilothouse'));
  setTimes(stage, epoch);
  return stage;
};

/** The folder that the archive unpacks: it runs from wherever it is put, `share/` can be copied to a prefix. */
export const stagePortableTree = async ({ unpacked, stage, epoch }) => {
  rmSync(stage, { recursive: true, force: true });
  putProgram(unpacked, stage);
  // Only a package manager can give a file to root.
  if (existsSync(join(stage, 'chrome-sandbox'))) chmodSync(join(stage, 'chrome-sandbox'), EXECUTABLE);
  await putShare({ share: join(stage, 'share'), appDirectory: APP_DIRECTORY, unpacked, epoch });
  put(join(stage, 'share/systemd/pilothouse.service'), asset('pilothouse.service', {}));
  setTimes(stage, epoch);
  return stage;
};

/** A maintainer script, for either format. */
export const maintainerScript = (name) => asset(name, {});
