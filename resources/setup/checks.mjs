/** The checks that need no test runner: format, types of every zone, lint. Each is one pass or failure. */
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';
import { run } from './run.mjs';

const bin = (path) => join(ROOT, 'node_modules', path);
// Compiler and lint rules with types written in Go take a sixth of the time. They cannot read pages: check-pages.mjs
// gives them the code of the pages, and ESLint holds the rules about templates.
const TSC = bin('typescript-7/bin/tsc');
const OXLINT = bin('oxlint/bin/oxlint');
const CHECK_PAGES = join(ROOT, 'resources/lint/check-pages.mjs');
const ESLINT = bin('eslint/bin/eslint.js');
const PRETTIER = bin('prettier/bin/prettier.cjs');

/** By content, because a change of branch gives old content a new time. */
const cache = (file) => [
  '--cache',
  '--cache-strategy=content',
  `--cache-location=${join(ROOT, 'node_modules/.cache', file)}`,
];

/** What was found before is kept, so that only what a change touches is looked at again. */
const kept = (name) => [
  '--incremental',
  '--tsBuildInfoFile',
  join(ROOT, 'node_modules/.cache/types', `${name.replaceAll(' ', '-')}.tsbuildinfo`),
];

const types = (name, project) => ({
  name: `types of ${name}`,
  script: TSC,
  args: ['-p', project, ...kept(name)],
});

export const CHECKS = [
  // The longest first.
  {
    name: 'lint of TypeScript',
    script: OXLINT,
    args: [
      '--type-aware',
      '--deny-warnings',
      '--ignore-pattern=**/*.vue',
      'core',
      'main',
      'renderer',
      'test',
    ],
  },
  {
    name: 'lint of the pages',
    script: ESLINT,
    args: ['--max-warnings=0', ...cache('eslint/pages'), 'renderer'],
  },
  { name: 'types of the renderer', script: CHECK_PAGES, args: kept('the renderer') },
  {
    name: 'format',
    script: PRETTIER,
    // A cache in a place of its own: any run of prettier without a cache deletes the one at the usual place.
    args: ['--check', '--log-level=warn', ...cache('format/check'), '.'],
  },
  types('core', 'core/tsconfig.json'),
  types('the pure zones', 'core/tsconfig.pure.json'),
  types('main', 'main/tsconfig.json'),
  types('the preload', 'main/preload/tsconfig.json'),
  types('the tests', 'test/tsconfig.json'),
];

const CHECKS_AT_ONCE = 2;

/** One line a check as it ends, followed by what it said if it failed. */
export const reportCheck = ({ name, startedAt, ok, output, detail = '' }) => {
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name}${detail} (${seconds} s)\n`);
  if (!ok) process.stdout.write(`${output.trim()}\n`);
};

/** Lets anyone who waits for something go first. */
const yieldToOthers = ({ pid }) => {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended already, or the platform does not allow it: then it competes.
    return;
  }
};

/** Runs every check, `atOnce` of them side by side; `inBackground` only with what others leave of the machine. */
export const runChecks = async ({ atOnce = CHECKS_AT_ONCE, inBackground = false } = {}) => {
  const queue = [...CHECKS];
  const result = { passed: 0, failed: 0 };
  const worker = async () => {
    for (let check = queue.shift(); check; check = queue.shift()) {
      const startedAt = Date.now();
      const { code, output } = await run(process.execPath, [check.script, ...check.args], {
        cwd: ROOT,
        capture: true,
        ...(inBackground && { onSpawn: yieldToOthers }),
      });
      reportCheck({ name: check.name, startedAt, ok: code === 0, output });
      result[code === 0 ? 'passed' : 'failed'] += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return result;
};
