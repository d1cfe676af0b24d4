import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { COMMANDS, referencesOf } from '../table.ts';
import { completionScript } from './completion.ts';
import { manPage, markdownReference } from './pages.ts';
import { parseUsage, type CommandReference } from './parse-usage.ts';

let all: CommandReference[];
beforeAll(async () => {
  all = await referencesOf(COMMANDS);
});

const USAGE = `  pilothouse host kill|stop NAME [--yes]
                  [--mode fast|slow] [--data DIR] [-o json]
  pilothouse host list

  Says more.
    Indented --not-a-flag.`;

test('a usage text is read as synopses, subcommands, flags and a description', () => {
  expect(parseUsage('host', 'do it', USAGE)).toEqual({
    name: 'host',
    summary: 'do it',
    synopses: [
      'pilothouse host kill|stop NAME [--yes] [--mode fast|slow] [--data DIR] [-o json]',
      'pilothouse host list',
    ],
    subcommands: ['kill', 'stop', 'list'],
    flags: [
      { name: '--yes', value: undefined, choices: [] },
      { name: '--mode', value: 'fast|slow', choices: ['fast', 'slow'] },
      { name: '--data', value: 'DIR', choices: [] },
      { name: '-o', value: 'json', choices: ['json'] },
    ],
    description: 'Says more.\n  Indented --not-a-flag.',
  });
});

test('every command has a synopsis, and those with subcommands name them', () => {
  expect(all.filter(({ synopses }) => synopses.length === 0)).toEqual([]);
  const withSubcommands = all.filter(({ subcommands }) => subcommands.length > 0).map(({ name }) => name);
  expect(withSubcommands).toEqual(
    expect.arrayContaining([
      'host',
      'fault',
      'snapshot',
      'certs',
      'encryption',
      'member',
      'upgrade',
      'component',
    ]),
  );
  expect(all.find(({ name }) => name === 'component')?.subcommands).toContain('kube-apiserver');
});

const completedByBash = (line: string): string[] => {
  const words = line.split(' ');
  const folder = mkdtempSync(join(tmpdir(), 'pilothouse-completion-'));
  const script = join(folder, 'completion.bash');
  writeFileSync(script, completionScript('bash', all));
  const array = words.map((word) => `'${word}'`).join(' ');
  const asks = `. ${script}; COMP_WORDS=(${array}); COMP_CWORD=${words.length - 1}; _pilothouse; printf '%s\\n' "\${COMPREPLY[@]}"`;
  try {
    return execFileSync('bash', ['-c', asks], { encoding: 'utf8' }).split('\n').filter(Boolean);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

test.runIf(spawnSync('bash', ['-c', ':']).status === 0)(
  'bash completes commands, words, flags and values',
  () => {
    expect({
      commands: completedByBash('pilothouse up'),
      words: completedByBash('pilothouse snapshot s'),
      flags: completedByBash('pilothouse up --etcd-c'),
      values: completedByBash('pilothouse up --topology '),
    }).toEqual({
      commands: ['up', 'upgrade'],
      words: ['save', 'status', 'schedule', 'show'],
      flags: ['--etcd-cafile', '--etcd-certfile'],
      values: ['stacked', 'external'],
    });
  },
);

test.each(['zsh', 'fish'] as const)('%s knows every command', (shell) => {
  const script = completionScript(shell, all);
  expect(all.filter(({ name }) => !script.includes(name))).toEqual([]);
});

test('the man page and the reference have a section for every command', () => {
  const man = manPage('1.2.3', all);
  const markdown = markdownReference(all);
  const missing = all.filter(
    ({ name }) => !man.includes(`.SS ${name}`) || !markdown.includes(`\n## ${name}\n`),
  );
  expect(missing).toEqual([]);
  expect(man.split('\n')[0]).toBe('.TH PILOTHOUSE 1 "" "Pilothouse 1.2.3" "User Commands"');
});
