import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';
import { run } from './run.mjs';

/** Runs vitest projects (optionally only some files) and counts what they report; `capture` keeps what they print. */
export const runVitest = async ({ project, files = [], env, capture = false }) => {
  const folder = mkdtempSync(join(tmpdir(), 'pilothouse-vitest-'));
  const report = join(folder, 'report.json');
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
        ...files,
      ],
      { cwd: ROOT, capture, env: { ...env, FORCE_COLOR: process.stdout.isTTY ? '1' : '0' } },
    );
    return { ...countsOf(report, code), output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const countsOf = (report, code) => {
  let json;
  try {
    json = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const passed = json.numPassedTests;
  // A file that does not load and an error outside any test are failures that no test counts.
  const failed = json.numFailedTests > 0 ? json.numFailedTests : code === 0 ? 0 : 1;
  return { passed, failed, skipped: json.numPendingTests + json.numTodoTests };
};
