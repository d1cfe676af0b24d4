import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ROOT } from './paths.mjs';
import { run } from './run.mjs';

/** As in vitest.config.ts. A source leaves a file there for each of its versions, some 2,000 in all for one state. */
const MODULE_CACHE = join(ROOT, 'node_modules/.cache/vitest');
const MODULE_CACHE_FILES_MAX = 20_000;

let isModuleCacheBounded = false;

/** Once, before the first run: a second one may read the cache beside the first. */
const boundModuleCache = () => {
  if (isModuleCacheBounded) return;
  isModuleCacheBounded = true;
  let files;
  try {
    files = readdirSync(MODULE_CACHE).length;
  } catch {
    return; // nothing is kept yet
  }
  if (files > MODULE_CACHE_FILES_MAX) rmSync(MODULE_CACHE, { recursive: true, force: true });
};

/** Runs vitest projects (optionally only some files) and counts what they report; `capture` keeps what they print. */
export const runVitest = async ({ project, files = [], flags = [], env, capture = false }) => {
  const folder = mkdtempSync(join(tmpdir(), 'pilothouse-vitest-'));
  const report = join(folder, 'report.json');
  boundModuleCache();
  try {
    const { code, output } = await run(
      process.execPath,
      [
        join(ROOT, 'node_modules/vitest/vitest.mjs'),
        'run',
        ...project.flatMap((name) => ['--project', name]),
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
        ...flags,
        ...files,
      ],
      { cwd: ROOT, capture, env: { ...env, FORCE_COLOR: process.stdout.isTTY ? '1' : '0' } },
    );
    return { ...countsOf(report, code), output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** More than this many broken files are no bad luck. */
const FILES_AGAIN_MAX = 3;

/**
 * For layers of real processes on a busy machine: the few files that failed are run once more, alone. What passes only
 * then is counted as passed and named in `unsteady`, so that it is noticed and fixed.
 */
export const runVitestTwice = async (options) => {
  const first = await runVitest(options);
  const { failedFiles } = first;
  if (failedFiles.length === 0 || failedFiles.length > FILES_AGAIN_MAX) return first;
  const heading = `\nonce more, alone: ${failedFiles.map(({ path }) => path).join(', ')}\n`;
  if (!options.capture) process.stdout.write(heading);
  const again = await runVitest({
    ...options,
    files: failedFiles.map(({ path }) => path),
    flags: ['--no-file-parallelism'],
  });
  const stillFailed = new Set(again.failedFiles.map(({ path }) => path));
  return {
    ...first,
    output: options.capture ? `${first.output}${heading}${again.output}` : '',
    // The files' tests of the first run are replaced by those of the second.
    passed: first.passed - sum(failedFiles, 'passed') + again.passed,
    failed: again.failed,
    skipped: first.skipped - sum(failedFiles, 'skipped') + again.skipped,
    broken: again.broken,
    unsteady: failedFiles.filter(({ path }) => !stillFailed.has(path)).flatMap(({ claims }) => claims),
  };
};

const sum = (files, key) => files.reduce((total, file) => total + file[key], 0);

const countsOf = (report, code) => {
  let json;
  try {
    json = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: 0, failedFiles: [], broken: ['vitest ended without a report'] };
  }
  const passed = json.numPassedTests;
  // A file that does not load and an error outside any test are failures that no test counts.
  const failed = json.numFailedTests > 0 ? json.numFailedTests : code === 0 ? 0 : 1;
  const skipped = json.numPendingTests + json.numTodoTests;
  const failedFiles = json.testResults.filter(hasFailed).map(failedFile);
  return { passed, failed, skipped, failedFiles, broken: failedFiles.flatMap(({ claims }) => claims) };
};

const hasFailed = ({ status }) => status === 'failed';

const failedFile = ({ name, assertionResults }) => {
  const path = relative(ROOT, name);
  const failures = assertionResults.filter(hasFailed);
  return {
    path,
    passed: assertionResults.filter(({ status }) => status === 'passed').length,
    skipped: assertionResults.filter(({ status }) => status !== 'passed' && status !== 'failed').length,
    claims: failures.length > 0 ? failures.map(({ fullName }) => `${path}: ${fullName}`) : [path],
  };
};
