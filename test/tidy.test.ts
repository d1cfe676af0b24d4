import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const LINES_LOOK_AGAIN = 400;
const LINES_MAX = 600;
const FUNCTION_LINES_MAX = 120;
/** Functions from before there was a limit, with a bound for each: they may shrink, and none is added. */
const LONG_FUNCTIONS: Readonly<Record<string, number>> = {
  'core/apiserver/audit/audit-stage.ts': 130,
  'core/apiserver/encryption/kms/kms-provider.ts': 170,
  'core/apiserver/flowcontrol/flow-metrics.ts': 150,
  'core/apiserver/kubelet-proxy/kubelet-proxy.ts': 130,
  'core/apiserver/registry/create-registry.ts': 150,
  'core/apiserver/registry/subresources/eviction.ts': 130,
  'core/apiserver/registry/subresources/token-request.ts': 130,
  'core/apiserver/run/authentication.ts': 140,
  'core/cloud/service-lb/service-lb-controller.ts': 180,
  'core/contract/host.ts': 170,
  'core/controllers/daemonset/daemonset-controller.ts': 180,
  'core/controllers/disruption/disruption-controller.ts': 150,
  'core/controllers/endpointslice/endpointslice-controller.ts': 150,
  'core/controllers/job/job-controller.ts': 180,
  'core/controllers/metrics-server/metrics-server-controller.ts': 140,
  'core/controllers/node-lifecycle/node-lifecycle-controller.ts': 190,
  'core/controllers/persistentvolume-binder/sync-claim.ts': 130,
  'core/controllers/serviceaccount-token/token-controller.ts': 130,
  'core/etcd/member/api/auth.ts': 130,
  'core/etcd/member/api/lease.ts': 140,
  'core/etcd/member/member.ts': 130,
  'core/etcd/server/metrics.ts': 140,
  'core/etcd/server/run-member.ts': 150,
  'core/proxy/create-proxy.ts': 190,
  'core/scheduler/loop/scheduler.ts': 180,
  'main/clusters/handlers.ts': 170,
  'main/ipc/handlers/cluster-list.ts': 170,
  'main/ipc/handlers/create-handlers.ts': 150,
  'main/kube/forwards.ts': 180,
  'renderer/stores/clusters.ts': 180,
};
/** Tables that are complete by intention, used or not. */
const CATALOGS = ['core/client/kinds.ts'];
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
      return indented >= FUNCTION_LINES_MAX - SIGNATURE_LINES_MAX;
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

/** Folders side by side whose files import each other in a circle, by value or by type; tests may look anywhere. */
const foldersInCircles = (files: readonly string[]): string[] => {
  const bySide = new Map<string, Map<string, Set<string>>>();
  for (const file of files)
    for (const target of namedBy(file)) {
      const [from, to] = [file.split('/'), target.split('/')];
      const fork = from.findIndex((part, index) => part !== to[index]);
      if (fork >= from.length - 1 || fork >= to.length - 1) continue;
      const parent = from.slice(0, fork).join('/');
      const side = bySide.get(parent) ?? new Map<string, Set<string>>();
      bySide.set(parent, side.set(from[fork]!, (side.get(from[fork]!) ?? new Set<string>()).add(to[fork]!)));
    }
  return [...bySide].flatMap(([parent, side]) => {
    const left = new Map(side);
    // A folder that imports none of those left is in no circle.
    for (let isSmaller = true; isSmaller;) {
      isSmaller = false;
      for (const [folder, imports] of left)
        if (![...imports].some((one) => left.has(one))) isSmaller = left.delete(folder);
    }
    // Nor is one that none of those left imports.
    for (let isSmaller = true; isSmaller;) {
      isSmaller = false;
      for (const folder of left.keys())
        if (![...left.values()].some((imports) => imports.has(folder))) isSmaller = left.delete(folder);
    }
    return left.size === 0 ? [] : [`${parent}: ${[...left.keys()].sort().join(', ')}`];
  });
};

test('no folders side by side import each other in a circle', () => {
  const product = sources.filter(
    (file) => /^(core|main|renderer)\//.test(file) && !/\.test\.ts$|\/testing\//.test(file),
  );
  expect(foldersInCircles(product)).toEqual([]);
});

test('a folder with an index.ts is entered through it', () => {
  const product = sources.filter((file) => !/\.test\.ts$|\/testing\/|^test\//.test(file));
  const imports = product.flatMap((file) => namedBy(file).map((target) => ({ file, target })));
  const goneAround = product
    .filter((file) => file.endsWith('/index.ts'))
    .filter((door) => {
      const folder = `${dirname(door)}/`;
      const fromOutside = imports.filter(
        ({ file, target }) => !file.startsWith(folder) && target.startsWith(folder),
      );
      const through = fromOutside.filter(({ target }) => target === door).length;
      return through < fromOutside.length / 2;
    });
  // Most go around these: use the door, or remove it.
  expect(goneAround).toEqual([]);
});

test('every folder of core and main opens with a README', () => {
  const folders = new Set(
    sources
      .filter((file) => /^(core|main)\//.test(file))
      .map((file) => file.split('/').slice(0, 2).join('/')),
  );
  const without = [...folders].filter(
    (folder) => !/\.ts$/.test(folder) && !existsSync(join(ROOT, folder, 'README.md')),
  );
  expect(without).toEqual([]);
});

test('no file is longer than 600 lines, and new functions stay under 120', () => {
  const lengths = sources
    .filter((file) => !/\/generated\//.test(file))
    .map((file) => ({ file, lines: read(file).split('\n').length }));
  const functions = lengths.flatMap(({ file, lines: fileLines }) => {
    if (file.endsWith('.test.ts') || fileLines <= FUNCTION_LINES_MAX || !hasLongBlock(file)) return [];
    const source = parse(file, false);
    let longest = 0;
    const look = (node: ts.Node): void => {
      const lines = lineOf(source, node.end) - lineOf(source, node.getStart(source)) + 1;
      // Nothing in it can be longer.
      if (lines <= FUNCTION_LINES_MAX) return;
      if (ts.isFunctionLike(node)) longest = Math.max(longest, lines);
      node.forEachChild(look);
    };
    source.forEachChild(look);
    return longest > (LONG_FUNCTIONS[file] ?? FUNCTION_LINES_MAX) ? [`${file}: ${longest} lines`] : [];
  });
  for (const { file, lines } of lengths)
    if (lines > LINES_LOOK_AGAIN) console.info(`long ${file} ${lines} lines`);
  expect(lengths.filter(({ lines }) => lines > LINES_MAX)).toEqual([]);
  expect(functions).toEqual([]);
});

test('every export is used somewhere', () => {
  const uses = new Map<string, number>();
  for (const file of tracked.filter((name) => /\.(ts|vue|mjs|mts)$/.test(name)))
    for (const word of read(file).match(/[A-Za-z_$][\w$]*/g) ?? []) uses.set(word, (uses.get(word) ?? 0) + 1);
  const unused = sources
    .filter((file) => !/\/generated\//.test(file) && !CATALOGS.includes(file))
    .flatMap((file) =>
      [...read(file).matchAll(/^export (?:async )?(?:const|function\*?|class) ([A-Za-z_$][\w$]*)/gm)]
        .map(([, name]) => name!)
        .filter((name) => uses.get(name) === 1)
        .map((name) => `${file}: ${name}`),
    );
  expect(unused).toEqual([]);
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
