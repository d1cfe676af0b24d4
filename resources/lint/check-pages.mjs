/**
 * What needs types in the renderer and its pages, on the code of the pages: TypeScript's compiler, and the lint rules
 * about promises and switches. Reports are told of the pages.
 */
import { join, relative } from 'node:path';
import { ROOT } from '../setup/paths.mjs';
import { run } from '../setup/run.mjs';
import { placeOfReport, VUE_CODE, writeVueCode } from './vue-code.mjs';

const TSC = join(ROOT, 'node_modules/typescript-7/bin/tsc');
const OXLINT = join(ROOT, 'node_modules/oxlint/bin/oxlint');

const TYPE_REPORT = /^(?<path>.+)\((?<line>\d+),(?<column>\d+)\): (?<text>error TS(?<code>\d+): .*)$/;
const LINT_REPORT = /^(?<path>.+):(?<line>\d+):(?<column>\d+): (?<text>.*)$/;
const LINT_TOTAL = /^\d+ problems?$/;

/** Exit codes that say "there are errors", all of which may be in generated code. */
const FOUND_ERRORS = [1, 2];

/** Templates have no rules about promises: Vue takes what a handler returns. */
const isOfRules = ({ isInScript }) => isInScript;

/** What a tool said, told of the pages: a report about generated code is left out, with its details. */
const told = (output, pattern, isWanted) => {
  const lines = [];
  let isTold = true;
  for (const line of output.split('\n').filter((text) => text !== '' && !LINT_TOTAL.test(text))) {
    const found = pattern.exec(line)?.groups;
    // Without a place (a broken configuration, a crash), or the details of the line above.
    if (!found) {
      if (isTold) lines.push(line);
      continue;
    }
    const place = placeOfReport({ ...found, line: Number(found.line), column: Number(found.column) });
    isTold = place !== undefined && isWanted(place);
    if (isTold) lines.push(`${place.path}(${place.line},${place.column}): ${found.text}`);
  }
  return lines;
};

const runTool = async ({ args, cwd, pattern, isWanted = () => true }) => {
  const { code, output } = await run(process.execPath, args, { cwd, capture: true });
  const lines = told(output, pattern, isWanted);
  const isCrash = code !== 0 && !FOUND_ERRORS.includes(code);
  return lines.length === 0 && isCrash ? [`${args[0]} ended with ${code}\n${output}`] : lines;
};

const pages = writeVueCode();
const types = await runTool({
  args: [TSC, '-p', join(VUE_CODE, 'tsconfig.json'), '--pretty', 'false', ...process.argv.slice(2)],
  cwd: ROOT,
  pattern: TYPE_REPORT,
});
const rules = await runTool({
  // By name, because a folder that version control ignores is not searched.
  args: [OXLINT, '--type-aware', '--format=unix', ...pages.map((path) => relative(VUE_CODE, path))],
  cwd: VUE_CODE,
  pattern: LINT_REPORT,
  isWanted: isOfRules,
});
for (const line of [...types, ...rules]) process.stdout.write(`${line}\n`);
process.exitCode = types.length + rules.length > 0 ? 1 : 0;
