import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Command, CommandContext } from './command.ts';
import { runCommandLine } from './run.ts';
import { COMMANDS } from './table.ts';

const start = async (args: string[], extra?: Command) => {
  const printed: string[] = [];
  const noted: string[] = [];
  const context: CommandContext = {
    print: (line) => printed.push(line),
    note: (line) => noted.push(line),
    signal: AbortSignal.abort(),
    env: {},
    cwd: tmpdir(),
    onEnter: () => () => undefined,
  };
  const table = extra && [{ name: 'component', summary: 'run one', load: () => Promise.resolve(extra) }];
  const code = await runCommandLine(args, context, table);
  return { code, printed, noted };
};

test('an unknown command prints one line and exits with code 2', async () => {
  expect(await start(['fly'])).toEqual({
    code: 2,
    printed: [],
    noted: ['pilothouse: unknown command "fly"; run pilothouse help for a list'],
  });
});

test.each([
  [['version', '--fast']],
  [['version', 'more']],
  [['version', '-o', 'xml']],
  [['serve', '--port', 'http']],
  [['serve', '--port', '70000']],
])('%j is a usage error', async (args) => {
  const { code, noted } = await start(args);
  expect([code, noted.length]).toEqual([2, 1]);
});

test('help lists every command and shows the usage of one', async () => {
  const { code, printed } = await start(['help']);
  expect(code).toBe(0);
  const listed = printed.flatMap((line) => /^ {2}([a-z-]+) /.exec(line)?.[1] ?? []);
  expect(listed).toEqual([...COMMANDS.map(({ name }) => name), 'help']);
  expect(listed).toEqual(expect.arrayContaining(['serve', 'kubeconfig', 'version']));
  expect((await start(['serve', '--help'])).printed.join('\n')).toContain('pilothouse serve [--data DIR]');
  expect((await start(['help', 'serve'])).printed).toEqual((await start(['serve', '-h'])).printed);
});

test('version prints text or JSON', async () => {
  const { printed } = await start(['--version']);
  const { printed: json } = await start(['version', '-o', 'json']);
  const { version } = JSON.parse(json[0] ?? '') as { version: string };
  expect(printed).toEqual([`pilothouse ${version}`]);
});

test('kubeconfig prints the path of an existing cluster and fails without one', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-cli-'));
  try {
    expect(await start(['kubeconfig', '--data', directory])).toEqual({
      code: 1,
      printed: [],
      noted: [
        `pilothouse: no cluster in ${directory}; create one with \`pilothouse up --data ${directory}\``,
      ],
    });
    mkdirSync(join(directory, 'kubeconfig'));
    const path = join(directory, 'kubeconfig', 'admin.conf');
    writeFileSync(path, '');
    expect((await start(['kubeconfig', '--data', directory])).printed).toEqual([path]);
    expect((await start(['kubeconfig', `--data=${directory}`, '-o', 'json'])).printed).toEqual([
      JSON.stringify({ path }),
    ]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a command receives its own flags unchanged', async () => {
  const seen: string[][] = [];
  const component: Command = {
    usage: '',
    run: (args) => {
      seen.push([...args]);
      return Promise.resolve(7);
    },
  };
  const { code } = await start(['component', 'etcd', '--name=a', '--data-dir', '/x'], component);
  expect([code, seen]).toEqual([7, [['etcd', '--name=a', '--data-dir', '/x']]]);
});
