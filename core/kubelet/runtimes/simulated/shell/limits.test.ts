import { expect, test } from 'vitest';
import { systemClock } from '../../../../base/node/clock.ts';
import { Budget, CONTAINER_STEPS_MAX, StepQuota, WINDOW_MS } from './budget.ts';
import { FILES_MAX, MemoryFileSystem, newLayer, type Mount } from './file-system.ts';
import { EXIT_KILLED, EXIT_SHELL_ERROR, Shell } from './interpreter.ts';
import { MEMORY_CHARACTERS_MAX, NESTING_MAX, PROCESSES_MAX } from './limits.ts';
import { noInput, Pipe, PIPE_WAIT_CHARACTERS } from './pipe.ts';
import type { ShellHost } from './process.ts';
import { LINE_CHARACTERS_MAX, Terminal } from './terminal.ts';
import { understands } from './understands.ts';
import { manualClock } from '../../../../base/manual-clock.ts';

const scratch = (): Mount => ({
  path: '/scratch',
  content: { isWritable: true, files: new Map() },
  subPath: '',
  isReadOnly: false,
});

const container = () => {
  const budget = new Budget(systemClock);
  const host: ShellHost = {
    clock: systemClock,
    hostname: 'web-0',
    podName: 'web-0',
    namespace: 'default',
    nodeName: 'n1',
    podIP: '127.1.2.3',
    kernelVersion: '6.6',
    user: { name: 'root', uid: 0, gid: 0 },
    init: 'sh',
    fileSystem: new MemoryFileSystem(newLayer(new Map()), [scratch()]),
    budget,
    networks: [],
  };
  const abort = new AbortController();
  const said = { out: '', err: '' };
  const run = async (argv: readonly string[]) => {
    const shell = new Shell({ host, environment: new Map(), signal: abort.signal });
    const code = await shell.runCommand(argv, {
      input: noInput,
      out: (text) => (said.out += text),
      err: (text) => (said.err += text),
    });
    shell.dispose();
    return { code, ...said };
  };
  return { run, script: (text: string) => run(['sh', '-c', text]), budget, abort, said };
};

/** Nothing of what a script held is left when it has ended. */
const nothingHeld = { processes: 0, characters: 0 };

test.each([
  ['a doubled string', 'x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done', 2, 'sh: out of memory\n'],
  [
    'doubled text in an argument',
    'x=aaaaaaaaaaaaaaaa; while true; do export x=$x$x; done',
    2,
    'sh: out of memory\n',
  ],
  [
    'a file that grows',
    'while echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >> /tmp/f && cat /tmp/f /tmp/f /tmp/f > /tmp/g && cp /tmp/g /tmp/f; do :; done; exit 3',
    3,
    '',
  ],
  [
    'doubled words',
    'x=\'a a a a\'; while true; do x="$x $x"; set $x; done',
    126,
    'sh: Argument list too long\n',
  ],
  ['too many variables', 'i=0; while true; do i=$((i + 1)); export v$i=1; done', 2, 'sh: out of memory\n'],
  [
    'a script that calls itself',
    "echo 'sh /tmp/f' > /tmp/f; sh /tmp/f",
    2,
    'sh: maximum recursion depth (32) reached\n',
  ],
  ['brackets', `${'('.repeat(20_000)}echo${')'.repeat(20_000)}`, 2, 'sh: syntax error: nested too deeply\n'],
  [
    'sums in brackets',
    `echo $((${'( '.repeat(9_000)}1))`,
    2,
    'sh: arithmetic syntax error: nested too deeply\n',
  ],
  [
    'newlines before the last character',
    "x=$(seq 1 9999 | sort -r | head -n 5000); y=$(printf '\\n\\n\\nx')",
    0,
    '',
  ],
])('%s ends with an exit code', async (_, script, code, err) => {
  const subject = container();
  const result = await subject.script(script);
  expect({ code: result.code, err: err === '' ? '' : result.err.slice(-err.length) }).toEqual({ code, err });
  expect({ processes: subject.budget.processes, characters: subject.budget.characters }).toEqual(nothingHeld);
});

test('a script that forks itself runs out of processes, not of memory, and can be killed', async () => {
  const { script, budget, abort, said } = container();
  const bomb = script("echo 'sh /tmp/f | sh /tmp/f | sh /tmp/f' > /tmp/f; sh /tmp/f");
  while (!said.err.includes("sh: can't fork: Resource temporarily unavailable"))
    await new Promise((resolve) => setImmediate(resolve));
  expect(budget.processes).toBeLessThanOrEqual(PROCESSES_MAX);
  abort.abort();
  expect([EXIT_SHELL_ERROR, EXIT_KILLED]).toContain((await bomb).code);
  expect(budget.processes).toBe(0);
});

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('%s is not a command', async (name) => {
  expect(await container().run([name])).toEqual({ code: 127, out: '', err: `sh: ${name}: not found\n` });
  expect(understands([name])).toBe(false);
});

test.each([
  [['break'], 0],
  [['continue'], 0],
  [['exit', 'x'], 0],
  [['command', ...Array<string>(20_000).fill('command'), 'true'], 0],
  [['exec', ...Array<string>(20_000).fill('exec'), 'false'], 1],
  [['[', ...Array<string>(20_001).fill('!'), 'x', ']'], 1],
])('a command without a shell always has an exit code (%#)', async (argv, code) => {
  expect((await container().run(argv)).code).toBe(code);
});

test('a shell understands nothing that is nested too deeply', () => {
  expect(understands(['sh', '-c', `${'{ '.repeat(NESTING_MAX + 1)}:${'; }'.repeat(NESTING_MAX + 1)}`])).toBe(
    false,
  );
  expect(understands(['sh', '-c', Array<string>(9_000).fill('true').join('&&')])).toBe(true);
});

test('volumes and layers have room for so many files and bytes', () => {
  const mount = scratch();
  const files = new MemoryFileSystem(newLayer(new Map()), [mount]);
  for (let i = 0; i < FILES_MAX; i += 1) files.write(`/scratch/${i}`, new Uint8Array(1));
  expect(() => files.write('/scratch/more', new Uint8Array())).toThrow('No space left on device');
  expect(() => files.write('/scratch/1', new Uint8Array(1024 * 1024))).toThrow('No space left on device');
  expect(() => files.write(`/tmp/${'n'.repeat(300)}`, new Uint8Array())).toThrow('File name too long');
  files.write('/tmp/big', new Uint8Array(1024 * 1024));
  expect(() => files.write('/tmp/other', new Uint8Array(1))).toThrow('No space left on device');
  files.remove('/tmp/big');
  files.write('/tmp/other', new Uint8Array(1024 * 1024));
});

test('a writer waits for a pipe that is full, and continues when its reader does', async () => {
  const budget = new Budget(systemClock);
  const pipe = new Pipe(budget);
  pipe.write('x'.repeat(PIPE_WAIT_CHARACTERS));
  const room = pipe.ready();
  expect(await pipe.readSome()).toHaveLength(PIPE_WAIT_CHARACTERS);
  await room;
  expect({ ready: pipe.ready(), held: budget.characters }).toEqual({ ready: undefined, held: 0 });
});

test('a container holds no more than its memory', () => {
  const budget = new Budget(systemClock);
  budget.take(MEMORY_CHARACTERS_MAX);
  expect(() => budget.take(1)).toThrow('out of memory');
  const exits = Array.from({ length: PROCESSES_MAX }, () => budget.fork());
  expect(() => budget.fork()).toThrow("can't fork: Resource temporarily unavailable");
  exits[0]!();
  exits[0]!();
  expect(budget.processes).toBe(PROCESSES_MAX - 1);
});

test('steps beyond the quota wait for the next window', () => {
  const clock = manualClock();
  const quota = new StepQuota(clock, 10);
  expect([quota.take(9), quota.take(1), quota.take(15)]).toEqual([0, WINDOW_MS, 3 * WINDOW_MS]);
  clock.advance(WINDOW_MS);
  expect(quota.take(1)).toBe(2 * WINDOW_MS);
  clock.advance(10 * WINDOW_MS);
  expect(quota.take(1)).toBe(0);
});

test('an endless loop uses its quota and no more', async () => {
  const clock = manualClock();
  const signal = new AbortController().signal;
  const budget = new Budget(clock);
  let isWaiting = false;
  const loop = (async () => {
    for (let i = 0; i < CONTAINER_STEPS_MAX; i += 1) {
      isWaiting = i === CONTAINER_STEPS_MAX - 1;
      await budget.step(signal);
    }
  })();
  while (!isWaiting) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(WINDOW_MS);
  await loop;
});

test('a terminal takes lines of a bounded length', async () => {
  let shown = '';
  const terminal = new Terminal(
    (text) => (shown += text),
    () => undefined,
  );
  terminal.type(`\x1b[${'0;'.repeat(100_000)}`);
  terminal.type(`${'y'.repeat(LINE_CHARACTERS_MAX + 100)}\r`);
  expect(await terminal.input.readLine()).toHaveLength(LINE_CHARACTERS_MAX);
  expect(shown.endsWith('\x07\r\n')).toBe(true);
});
