/**
 * The pages as TypeScript: the code that Vue's language tools make of them is written to a folder, where compilers and linters that
 * cannot read `.vue` files find it, and what they report there is told of the page. The folder repeats the paths of the
 * pages (`renderer/app/App.vue.ts`), so that `rootDirs` makes the imports of both sides meet.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { ROOT } from '../setup/paths.mjs';

const require = createRequire(import.meta.url);

/** Hidden and ignored by version control; not in node_modules, whose files linters leave alone. */
export const VUE_CODE = join(ROOT, '.cache/vue');
const STATE = join(VUE_CODE, 'written.json');

/** A change of this file or of the generator makes all code stale. */
const GENERATOR = createHash('sha256')
  .update(readFileSync(new URL(import.meta.url)))
  .update(require('@vue/language-core/package.json').version)
  .digest('hex');

const TSCONFIG = {
  extends: '../../renderer/tsconfig.json',
  compilerOptions: { rootDirs: ['../..', '.'], noImplicitReturns: true },
  include: ['../../renderer', '.'],
  exclude: [],
};

/** The rules of .oxlintrc.json that need types; ESLint holds the others in the pages themselves. */
const RULES = {
  plugins: ['typescript'],
  categories: { correctness: 'off' },
  rules: Object.fromEntries(
    ['no-floating-promises', 'no-misused-promises', 'switch-exhaustiveness-check'].map((rule) => [
      `typescript/${rule}`,
      'error',
    ]),
  ),
};

const posixPath = (path) => path.split(sep).join('/');

const pages = () =>
  readdirSync(join(ROOT, 'renderer'), { recursive: true })
    .filter((path) => path.endsWith('.vue'))
    .map((path) => `renderer/${posixPath(path)}`)
    .sort();

let generator;

/** Made when a page has to be generated or a finding told: it loads a compiler. */
const generatorOfPages = () => {
  if (generator) return generator;
  const vue = require('@vue/language-core');
  const ts = require('typescript');
  const { options, vueOptions } = vue.createParsedCommandLine(
    ts,
    ts.sys,
    posixPath(join(ROOT, 'renderer/tsconfig.json')),
  );
  // By name: a path from the page to the types would not hold in the other folder.
  const settings = { ...vueOptions, typesRoot: '@vue/language-core/types' };
  const plugin = vue.createVueLanguagePlugin(ts, options, settings, (id) => id);
  generator = { vue, ts, plugin };
  return generator;
};

/**
 * The generator turns what follows `//` in an address of an attribute into a comment, which does not parse. As many
 * characters as before, because places are counted in them.
 */
const repaired = (code) => code.replace(/(\w:)\/\*([^\n]*?) \*\//g, '$1//$2   ');

const generate = (page) => {
  const { ts, plugin } = generatorOfPages();
  const source = readFileSync(join(ROOT, page), 'utf8');
  const root = plugin.createVirtualCode(join(ROOT, page), 'vue', ts.ScriptSnapshot.fromString(source));
  const { code } = plugin.typescript.getServiceScript(root);
  const text = repaired(code.snapshot.getText(0, code.snapshot.getLength()));
  return { source, text, mappings: code.mappings, blocks: root.sfc ?? root._sfc };
};

const readState = () => {
  try {
    return JSON.parse(readFileSync(STATE, 'utf8'));
  } catch {
    return {}; // never written, or not to the end: all of it is written again
  }
};

/**
 * Writes the code of the pages that changed since the last time, and removes that of pages that are gone. Returns the
 * paths of all of it.
 */
export const writeVueCode = () => {
  let { generator: by, pages: written = {} } = readState();
  if (by !== GENERATOR) {
    rmSync(VUE_CODE, { recursive: true, force: true });
    written = {};
  }
  const current = {};
  for (const page of pages()) {
    const hash = createHash('sha256')
      .update(readFileSync(join(ROOT, page)))
      .digest('hex');
    if (written[page] !== hash) {
      const target = join(VUE_CODE, `${page}.ts`);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, generate(page).text);
    }
    current[page] = hash;
  }
  for (const page of Object.keys(written))
    if (current[page] === undefined) rmSync(join(VUE_CODE, `${page}.ts`), { force: true });
  mkdirSync(VUE_CODE, { recursive: true });
  writeFileSync(join(VUE_CODE, 'tsconfig.json'), JSON.stringify(TSCONFIG, null, 2));
  writeFileSync(join(VUE_CODE, '.oxlintrc.json'), JSON.stringify(RULES, null, 2));
  writeFileSync(STATE, JSON.stringify({ generator: GENERATOR, pages: current }));
  return Object.keys(current).map((page) => join(VUE_CODE, `${page}.ts`));
};

const offsetOf = (text, line, column) => {
  let offset = 0;
  for (let left = line - 1; left > 0; left -= 1) offset = text.indexOf('\n', offset) + 1;
  return offset + column - 1;
};

const placeOf = (text, offset) => {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: before.at(-1).length + 1 };
};

/** The page of a path of its code, which a tool gives from where it was started. */
const pageOf = (path) =>
  [ROOT, VUE_CODE]
    .map((from) => posixPath(relative(VUE_CODE, resolve(from, path))))
    .find((inside) => inside.startsWith('renderer/') && inside.endsWith('.vue.ts'))
    ?.slice(0, -'.ts'.length);

/**
 * Where something reported is: as it is for a file of ours, in the page for code of a page, and undefined for
 * generated code. `code` is that of the compiler's message; `isInScript` tells the script from the template.
 */
export const placeOfReport = ({ path, line, column, code = '' }) => {
  const page = pageOf(path);
  if (page === undefined) return { path, line, column, isInScript: true };
  const { vue } = generatorOfPages();
  const { source, text, mappings, blocks } = generate(page);
  const map = new vue.SourceMap(mappings);
  const reported = (data) => vue.shouldReportDiagnostics(data, 'ts', code);
  for (const [offset] of map.toSourceLocation(offsetOf(text, line, column), reported)) {
    const isInScript = [blocks.script, blocks.scriptSetup].some(
      (block) => block && offset >= block.startTagEnd && offset <= block.endTagStart,
    );
    return { path: page, ...placeOf(source, offset), isInScript };
  }
  return undefined;
};
