import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const LINES_LOOK_AGAIN = 400;
const LINES_SMELL = 600;
const FUNCTION_LINES_SMELL = 120;
/** The longest parameter list of a formatted function; its closing line is not indented. */
const SIGNATURE_LINES_MAX = 20;

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)));

const sources = tracked.filter((file) => /\.(ts|vue)$/.test(file) && !file.endsWith('.d.ts'));
const texts = new Map<string, string>();
const read = (file: string): string => {
  let text = texts.get(file);
  if (text === undefined) texts.set(file, (text = readFileSync(join(ROOT, file), 'utf8')));
  return text;
};
const scriptOf = (file: string): string =>
  file.endsWith('.vue') ? (/<script[^>]*>([\s\S]*?)<\/script>/.exec(read(file))?.[1] ?? '') : read(file);

const parse = (file: string, hasParents = true): ts.SourceFile =>
  ts.createSourceFile(file, scriptOf(file), ts.ScriptTarget.Latest, hasParents, ts.ScriptKind.TS);

/** Local files that a file refers to: all forms of imports, and workers and assets by URL. */
const namedBy = (file: string): string[] => {
  const script = scriptOf(file);
  const { importedFiles } = ts.preProcessFile(script, true, false);
  const urls = [...script.matchAll(/new URL\(\s*'([^']+)'/g)].map(([, target]) => target!);
  return [...importedFiles.map(({ fileName }) => fileName), ...urls]
    .filter((target) => target.startsWith('.'))
    .map((target) => join(dirname(file), target.replace(/\?.*$/, '')));
};

/** Whether enough consecutive lines are indented for a long function; files without such a block need not be parsed. */
const hasLongBlock = (file: string): boolean => {
  let indented = 0;
  return scriptOf(file)
    .split('\n')
    .some((line) => {
      indented = line === '' || line.startsWith(' ') ? indented + 1 : 0;
      return indented >= FUNCTION_LINES_SMELL - SIGNATURE_LINES_MAX;
    });
};

const visit = (node: ts.Node, see: (node: ts.Node) => void): void => {
  see(node);
  node.forEachChild((child) => visit(child, see));
};

const lineOf = (source: ts.SourceFile, position: number): number =>
  source.getLineAndCharacterOfPosition(position).line + 1;

/** Entry points, and files that a tool finds by name. */
const isEntry = (file: string): boolean =>
  /\.test\.ts$/.test(file) ||
  /(^|\/)(vite|vitest)\.[\w.]*config\.ts$/.test(file) ||
  /\/vite\.config\.ts$/.test(file) ||
  /^test\/bench\/[^/]+\.ts$/.test(file) ||
  /^renderer\/pages\/[^/]+\/page\.ts$/.test(file) ||
  [
    'core/cluster/host/program.ts',
    'main/app/main.ts',
    'main/cli/cli.ts',
    'main/preload/preload.ts',
    'renderer/app/main.ts',
    'renderer/editor/worker-initialize.ts',
    'test/chaos/main.ts',
    'test/security/shared-cluster.ts',
    'test/sim/main.ts',
  ].includes(file) ||
  /\/worker-entry\.ts$/.test(file);

test('no test is focused or switched off without a condition', () => {
  const found = sources
    .filter((file) => file.endsWith('.test.ts') && file !== 'test/tidy.test.ts')
    .flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, index) =>
          /\b(test|it|describe)\.(only|skip|todo)\b/.test(line) ? [`${file}:${index + 1}`] : [],
        ),
    );
  expect(found).toEqual([]);
});

test('no mark of unfinished work is left in the code', () => {
  const marks = new RegExp(
    ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'].map((m) => `\\b${m}\\b`).join('|'),
  );
  const found = sources.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => (marks.test(line) ? [`${file}:${index + 1}`] : [])),
  );
  expect(found).toEqual([]);
});

test('every source file is reached from an entry or a test', () => {
  const imported = new Set(sources.flatMap(namedBy));
  const dead = sources.filter((file) => !isEntry(file) && !imported.has(file));
  expect(dead).toEqual([]);
});

test('pure zones reach for no clock, randomness or I/O', () => {
  const forbidden = new Set([
    'Date',
    'performance',
    'setTimeout',
    'setInterval',
    'setImmediate',
    'process',
    'fetch',
  ]);
  const pure = sources.filter(
    (file) =>
      (/^core\/(raft|api|cel|contract)\//.test(file) || /^core\/base\/[^/]+\.ts$/.test(file)) &&
      !file.endsWith('.test.ts'),
  );
  const words = new RegExp(`\\b(?:${[...forbidden].join('|')}|Math\\.random)\\b`);
  const found = pure.flatMap((file) => {
    if (!words.test(read(file))) return [];
    const source = parse(file);
    const hits: string[] = [];
    visit(source, (node) => {
      if (ts.isPropertyAccessExpression(node) && node.getText() === 'Math.random')
        hits.push(`${file}:${lineOf(source, node.getStart())} Math.random`);
      if (!ts.isIdentifier(node) || !forbidden.has(node.text)) return;
      const parent = node.parent;
      const isMember =
        (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
        ((ts.isPropertySignature(parent) || ts.isPropertyAssignment(parent)) && parent.name === node);
      if (
        !isMember &&
        (ts.isCallExpression(parent) || ts.isNewExpression(parent) || ts.isPropertyAccessExpression(parent))
      )
        hits.push(`${file}:${lineOf(source, node.getStart())} ${node.text}`);
    });
    return hits;
  });
  expect(pure.length).toBeGreaterThan(0);
  expect(found).toEqual([]);
});

test('every folder of core opens with a README', () => {
  const folders = new Set(
    sources.filter((file) => file.startsWith('core/')).map((file) => file.split('/').slice(0, 2).join('/')),
  );
  const without = [...folders].filter(
    (folder) => !/\.ts$/.test(folder) && !existsSync(join(ROOT, folder, 'README.md')),
  );
  expect(without).toEqual([]);
});

test('files and functions have not outgrown their concept (report)', () => {
  const lengths = sources.map((file) => ({ file, lines: read(file).split('\n').length }));
  const long = lengths.filter(({ lines }) => lines > LINES_LOOK_AGAIN).sort((a, b) => b.lines - a.lines);
  const functions = lengths.flatMap(({ file, lines: fileLines }) => {
    if (file.endsWith('.test.ts') || fileLines <= FUNCTION_LINES_SMELL || !hasLongBlock(file)) return [];
    const source = parse(file, false);
    const found: string[] = [];
    const look = (node: ts.Node): void => {
      const start = lineOf(source, node.getStart(source));
      const lines = lineOf(source, node.end) - start + 1;
      // Nothing in it can be longer.
      if (lines <= FUNCTION_LINES_SMELL) return;
      if (ts.isFunctionLike(node)) found.push(`${file}:${start} ${lines} lines`);
      node.forEachChild(look);
    };
    source.forEachChild(look);
    return found;
  });
  for (const { file, lines } of long)
    console.info(`${lines > LINES_SMELL ? 'too long ' : 'long     '}${file} ${lines} lines`);
  for (const line of functions) console.info(`function ${line}`);
  expect(lengths.length).toBeGreaterThan(0);
});

test('the project names no host of a registry and no path of one machine', () => {
  const text = tracked.filter((file) =>
    /\.(ts|vue|mjs|json|md|yml|yaml|css|html)$|^\.npmrc$|^\.ci\//.test(file),
  );
  const found = text.filter(
    (file) => file !== 'test/tidy.test.ts' && /registry\.npmjs\.org|"resolved":|\/root\//.test(read(file)),
  );
  expect(found).toEqual([]);
});
