/**
 * Makes a fresh clone ready with nothing but Node and npm: dependencies from the lock file when they are
 * missing or of another lock file, the build when a source is newer. A second run finds both and does
 * nothing. Imports only Node's own modules, because it runs before there are any others.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DIST, ROOT } from './paths.mjs';
import { SetupError, step } from './progress.mjs';
import { run } from './run.mjs';

const NODE_MINIMUM = [20, 19];
const LOCK = join(ROOT, 'package-lock.json');
const LOCK_STAMP = join(ROOT, 'node_modules', '.pilothouse-lock');
export const BUILD_STAMP = join(DIST, '.built');

/** What the build reads. Tests are not among it. */
const SOURCES = [
  'core',
  'main',
  'renderer',
  'docs',
  'resources/setup',
  'resources/samples',
  'package-lock.json',
];

const checkNode = () => {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [wantMajor, wantMinor] = NODE_MINIMUM;
  if (major < wantMajor || (major === wantMajor && minor < wantMinor))
    throw new SetupError(
      `needs Node ${NODE_MINIMUM.join('.')} or newer, this is ${process.versions.node}; install it from https://nodejs.org`,
    );
};

const lockHash = () => createHash('sha256').update(readFileSync(LOCK)).digest('hex');

const dependenciesAreCurrent = () =>
  existsSync(LOCK_STAMP) && readFileSync(LOCK_STAMP, 'utf8') === lockHash();

/** npm as the user runs it: the one that started us, else the one on the PATH. */
const npm = () => {
  const own = process.env.npm_execpath;
  return own?.endsWith('.js') ? [process.execPath, [own]] : ['npm', []];
};

export const runNpm = (args, options) => {
  const [command, first] = npm();
  return run(command, [...first, ...args], options);
};

/**
 * What the lock file pins, and nothing is written back. Not `npm ci`: it refuses a lock file that lacks an
 * optional package of another platform, which is what npm writes where a registry has not got all of them.
 */
const installDependencies = async () => {
  const { code, output } = await runNpm(
    ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: ROOT, capture: true },
  );
  if (code !== 0)
    throw new SetupError(
      `npm could not install the dependencies; check the network and the registry npm is set up with, then try again\n${output.trim()}`,
    );
  writeFileSync(LOCK_STAMP, lockHash());
};

const newestMs = (path) => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  let newest = 0;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    // The console shows docs/; other documents are for readers of the source.
    const isUnread = entry.name.endsWith('.md') && !path.endsWith('docs');
    if (entry.name.endsWith('.test.ts') || isUnread) continue;
    newest = Math.max(newest, newestMs(join(path, entry.name)));
  }
  return newest;
};

const buildIsCurrent = () => {
  const built = statSync(BUILD_STAMP, { throwIfNoEntry: false });
  return built !== undefined && SOURCES.every((source) => newestMs(join(ROOT, source)) <= built.mtimeMs);
};

export const ensureDependencies = async () => {
  checkNode();
  if (!dependenciesAreCurrent()) await step('Installing dependencies', installDependencies);
};

/** In a process that ends: the bundler takes a gigabyte, and anyone who starts the app stays for as long as it runs. */
export const ensureBuild = async () => {
  if (buildIsCurrent()) return;
  const { code } = await run(process.execPath, [join(ROOT, 'resources/setup/build.mjs')]);
  if (code !== 0) throw new SetupError('the build failed; what is above says why');
};

export const bootstrap = async () => {
  await ensureDependencies();
  await ensureBuild();
};
