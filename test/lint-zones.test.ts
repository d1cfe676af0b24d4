import { Linter } from 'eslint';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import plugin from '../resources/lint/plugin.mjs';
import { PURE_ZONES } from '../resources/lint/zones.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');

const reports = (file: string, code: string): string[] =>
  new Linter({ cwd: ROOT })
    .verify(
      code,
      [
        {
          files: ['**/*.ts'],
          plugins: { pilothouse: plugin as never },
          rules: { 'pilothouse/import-zones': 'error' },
        },
      ],
      { filename: join(ROOT, file) },
    )
    .map((message) => message.message);

test.each([
  ['core/raft/a.ts', `import '../etcd/wal/b.ts';`],
  ['core/raft/a.ts', `import 'node:fs';`],
  ['core/base/a.ts', `import '../raft/b.ts';`],
  ['core/base/a.ts', `import './node/clock.ts';`],
  ['core/contract/a.ts', `export * from '../base/node/clock.ts';`],
  ['core/scheduler/a.ts', `import '../apiserver/server/b.ts';`],
  ['core/controllers/a.ts', `import '../etcd/mvcc/b.ts';`],
  ['core/apiserver/handlers/a.ts', `import '../../etcd/mvcc/b.ts';`],
  ['core/kubelet/a.ts', `import '../../main/cli/b.ts';`],
  ['core/cluster/a.ts', `import 'electron';`],
  ['renderer/pages/a.ts', `await import('../../core/etcd/b.ts');`],
  ['renderer/pages/a.ts', `import '../../core/base/node/disk.ts';`],
  ['renderer/pages/a.ts', `import 'node:path';`],
  ['main/preload/a.ts', `import '../ipc/b.ts';`],
])('%s may not say %s', (file, code) => {
  expect(reports(file, code)).toHaveLength(1);
});

test.each([
  ['core/raft/a.ts', `import '../base/assert.ts';`],
  ['core/etcd/member/a.ts', `import '../../raft/b.ts'; import 'node:fs'; import '../proto/c.ts';`],
  ['core/apiserver/storage/a.ts', `import '../../etcd/proto/b.ts';`],
  ['core/cluster/a.ts', `import '../apiserver/server/b.ts'; import '../etcd/member/c.ts';`],
  ['main/cli/a.ts', `import '../../core/cluster/b.ts'; import '../../core/base/node/clock.ts';`],
  ['main/windows/a.ts', `import 'electron'; import '../ipc/b.ts';`],
  ['renderer/pages/a.ts', `import '../../core/contract/index.ts'; import '../bridge/b.ts';`],
  ['main/preload/a.ts', `import 'electron'; import '../../core/contract/index.ts';`],
])('%s may say %s', (file, code) => {
  expect(reports(file, code)).toEqual([]);
});

test('the rules of pure zones are set for every pure zone', () => {
  const { overrides } = JSON.parse(readFileSync(join(ROOT, '.oxlintrc.json'), 'utf8')) as {
    overrides: { files: string[]; rules: Record<string, unknown> }[];
  };
  const pure = overrides.find(({ rules }) => 'no-restricted-globals' in rules);
  expect(pure?.files).toEqual(
    PURE_ZONES.map((zone) => (zone === 'core/base' ? `${zone}/*.ts` : `${zone}/**/*.ts`)),
  );
});
