import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Breaks rules of each tool once, in a tree with our configuration, and reads what is reported. */
const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

const CONFIGURATION = [
  '.oxlintrc.json',
  'eslint.config.mjs',
  'package.json',
  'tsconfig.base.json',
  'core/tsconfig.json',
  'renderer/tsconfig.json',
  'resources/lint',
  'resources/setup/paths.mjs',
  'resources/setup/run.mjs',
];

const SCRIPT = `import '../core/etcd/wal.ts';
import { computed } from 'vue';
import { Size } from './sizes.ts';
const props = defineProps<{ kind: 'a' | 'b' }>();
const load = async (): Promise<number> => 1;
load();
[1].forEach(async () => {
  await load();
});
switch (props.kind) {
  case 'a':
    break;
}
const label = computed(() => {
  if (props.kind === 'a') return 'a';
});
const size: Size = 'enormous';
const loose: any = 1 == Number(size);
try {
  void load();
} catch {}
const unused = 1;`;

const PAGE = `<script setup lang="ts">
${SCRIPT}
</script>

<template>
  <p v-for="n in [1]" @click="load()">{{ label }} {{ missing }} {{ loose }} {{ n }}</p>
</template>
`;

const PURE = `import { readFileSync } from 'node:fs';
import '../etcd/wal.ts';
import { Size } from './sizes.ts';
export const now = (): number => Date.now() + Math.random();
export const read = (path: Size): void => {
  const unused = 1;
  Promise.resolve(path);
  [1].forEach(async () => void readFileSync(path));
  switch (path) {
    case 'small':
      break;
  }
  try {
    void now();
  } catch {}
  const loose: any = 1 == 1;
  if (loose) debug();
};
let debug = (): void => undefined;
`;

const FILES = {
  'core/etcd/wal.ts': 'export {};\n',
  'core/raft/sizes.ts': "export type Size = 'small' | 'large';\n",
  'core/raft/broken.ts': PURE,
  'renderer/sizes.ts': "export type Size = 'small' | 'large';\n",
  'renderer/Broken.vue': PAGE,
};

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-lint-'));
  for (const path of CONFIGURATION) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const report = (script: string, ...args: string[]): Promise<string> =>
  new Promise((done) => {
    execFile(process.execPath, [join(folder, script), ...args], { cwd: folder }, (_error, stdout, stderr) =>
      done(`${stdout}${stderr}`),
    );
  });

/** Each line of a report as its place and rule. */
const findings = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, line, rule]) => `${line} ${rule}`).sort();

test('every broken rule of a TypeScript file is reported', async () => {
  const text = await report('node_modules/oxlint/bin/oxlint', '--type-aware', '--format=unix', 'core');
  expect(findings(text, /broken\.ts:(\d+):\d+: .*\[Error\/[^(]*\(?([\w-]+)\)?\]/g)).toEqual([
    '1 import-zones',
    '15 no-empty',
    '16 eqeqeq',
    '16 no-explicit-any',
    '19 prefer-const',
    '2 import-zones',
    '3 consistent-type-imports',
    '4 no-restricted-globals',
    '4 no-restricted-properties',
    '6 no-unused-vars',
    '7 no-floating-promises',
    '8 no-misused-promises',
    '9 switch-exhaustiveness-check',
  ]);
});

test('every broken rule of a page that needs no types is reported', async () => {
  const eslint = await report('node_modules/eslint/bin/eslint.js', '--format=json', 'renderer');
  const messages = (JSON.parse(eslint) as { messages: { line: number; ruleId: string }[] }[]).flatMap(
    (file) => file.messages,
  );
  expect(messages.map(({ line, ruleId }) => `${line} ${ruleId}`).sort()).toEqual([
    '19 @typescript-eslint/no-explicit-any',
    '19 eqeqeq',
    '2 pilothouse/import-zones',
    '22 no-empty',
    '23 @typescript-eslint/no-unused-vars',
    '27 vue/require-v-for-key',
    '4 @typescript-eslint/consistent-type-imports',
  ]);
});

test('types, promises and switches of a page are reported where they are written', async () => {
  const text = await report('resources/lint/check-pages.mjs');
  expect(findings(text, /^renderer\/Broken\.vue\((\d+),\d+\): .*?(TS\d+|(?<=typescript\()[\w-]+)/gm)).toEqual(
    [
      '11 switch-exhaustiveness-check',
      '15 TS7030',
      '18 TS2322',
      '23 TS6133',
      '27 TS2339',
      '4 TS1484',
      '7 no-floating-promises',
      '8 no-misused-promises',
    ],
  );
});
