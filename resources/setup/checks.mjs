/** The checks that need no test runner: format, types of every zone, lint. Each is one pass or failure. */
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';
import { run } from './run.mjs';

const bin = (path) => join(ROOT, 'node_modules', path);
const TSC = bin('typescript/bin/tsc');
const VUE_TSC = bin('vue-tsc/bin/vue-tsc.js');
const ESLINT = bin('eslint/bin/eslint.js');
const PRETTIER = bin('prettier/bin/prettier.cjs');

/** By content, because a change of branch gives old content a new time. */
const cache = (file) => [
  '--cache',
  '--cache-strategy=content',
  `--cache-location=${join(ROOT, 'node_modules/.cache', file)}`,
];

const lint = (name, folders) => ({
  name: `lint of ${name}`,
  script: ESLINT,
  args: ['--max-warnings=0', ...cache(`eslint/${name.replaceAll(' ', '-')}`), ...folders],
});

/** What was found before is kept, so that only what a change touches is looked at again. */
const types = (name, script, project) => ({
  name: `types of ${name}`,
  script,
  args: [
    '-p',
    project,
    '--incremental',
    '--tsBuildInfoFile',
    join(ROOT, 'node_modules/.cache/types', `${name.replaceAll(' ', '-')}.tsbuildinfo`),
  ],
});

export const CHECKS = [
  // In two parts, because with types it takes as long as all the others together.
  lint('core', ['core']),
  lint('the rest', ['main', 'renderer', 'test']),
  {
    name: 'format',
    script: PRETTIER,
    // A cache in a place of its own: any run of prettier without a cache deletes the one at the usual place.
    args: ['--check', '--log-level=warn', ...cache('format/check'), '.'],
  },
  types('core', TSC, 'core/tsconfig.json'),
  types('the pure zones', TSC, 'core/tsconfig.pure.json'),
  types('main', TSC, 'main/tsconfig.json'),
  types('the preload', TSC, 'main/preload/tsconfig.json'),
  types('the renderer', VUE_TSC, 'renderer/tsconfig.json'),
  types('the tests', TSC, 'test/tsconfig.json'),
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
