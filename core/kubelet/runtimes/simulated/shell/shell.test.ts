import { expect, test } from 'vitest';
import { manualClock } from '../../../../base/manual-clock.ts';
import { Budget } from './budget.ts';
import { MemoryFileSystem, newLayer } from './file-system.ts';
import { Shell } from './interpreter.ts';
import { noInput } from './pipe.ts';
import type { ShellHost } from './process.ts';
import { understands } from './understands.ts';

const shell = () => {
  const clock = manualClock();
  const abort = new AbortController();
  const content = {
    isWritable: false,
    files: new Map([['key', { content: Buffer.from('value'), mode: 0o600 }]]),
  };
  const mount = { path: '/etc/config', content, subPath: '', isReadOnly: false };
  const host: ShellHost = {
    clock,
    hostname: 'web-0',
    podName: 'web-0',
    namespace: 'default',
    nodeName: 'n1',
    podIP: '127.1.2.3',
    kernelVersion: '6.6',
    user: { name: 'root', uid: 0, gid: 0 },
    init: 'nginx',
    fileSystem: new MemoryFileSystem(newLayer(new Map([['/etc/hostname', 'web-0\n']])), [mount]),
    budget: new Budget(clock),
    networks: [],
  };
  const instance = new Shell({ host, environment: new Map([['NAME', 'world']]), signal: abort.signal });
  let out = '';
  let err = '';
  const run = async (script: string) => {
    out = err = '';
    const result = await instance.run(script, {
      input: noInput,
      out: (text) => (out += text),
      err: (text) => (err += text),
    });
    return { out, err, code: result.code };
  };
  return { run, clock, abort, host };
};

test.each([
  ['echo hello $NAME', 'hello world\n'],
  [`echo "a  $NAME" 'b $NAME' c\\ d`, 'a  world b $NAME c d\n'],
  ['echo ${NAME} ${MISSING:-none} $((2 * 3 + 4))', 'world none 10\n'],
  ['echo one; echo two && echo three || echo four', 'one\ntwo\nthree\n'],
  ['false || echo rescued; false && echo never', 'rescued\n'],
  ['! false && echo negated', 'negated\n'],
  ['seq 1 20 | head -n 3 | wc -l', '3\n'],
  ['for i in a b c; do echo $i; done', 'a\nb\nc\n'],
  ['i=0; while [ $i -lt 3 ]; do i=$((i + 1)); echo $i; done', '1\n2\n3\n'],
  ['if [ -f /etc/config/key ]; then cat /etc/config/key; else echo no; fi', 'value'],
  ['echo $(hostname)-$(cat /etc/config/key)', 'web-0-value\n'],
  ['echo x > /tmp/f; echo y >> /tmp/f; cat < /tmp/f', 'x\ny\n'],
  ['cd /etc && pwd && ls config', '/etc\nkey\n'],
  ['X=1 env | grep X=', 'X=1\n'],
  ['for i in 1 2 3; do if [ $i = 2 ]; then continue; fi; echo $i; done', '1\n3\n'],
  ["sh -c 'echo $0 $1' zero one", 'zero one\n'],
  ['command -v nosuch || command -v ls', '/bin/ls\n'],
  ['echo to stderr >&2; echo ok # a comment', 'ok\n'],
  ['printf "%s=%d\\n" a 3', 'a=3\n'],
  // White space of JavaScript that is none of the shell's.
  ['echo a\u2028b \u00a0 \v\f', 'a\u2028b \u00a0 \v\f\n'],
])('%s', async (script, expected) => {
  expect((await shell().run(script)).out).toBe(expected);
});

test.each([
  ['exit 3', 3, ''],
  ['false', 1, ''],
  ['nosuch', 127, 'sh: nosuch: not found\n'],
  ['cat /missing', 1, "cat: can't open '/missing': No such file or directory\n"],
  ['echo x > /etc/config/key', 1, 'sh: /etc/config/key: Read-only file system\n'],
  ['if true; then', 2, 'sh: syntax error: unexpected "end of file"\n'],
  ['echo "unfinished', 2, 'sh: syntax error: unexpected "end of file"\n'],
])('%s fails with its code', async (script, code, err) => {
  expect(await shell().run(script)).toMatchObject({ code, err });
});

test('sleep takes its time on the clock and ends when killed', async () => {
  const { run, clock, abort } = shell();
  const slept = run('sleep 5; echo done');
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(5_000);
  expect((await slept).out).toBe('done\n');
  const killed = run('while true; do sleep 60; done');
  await new Promise((resolve) => setImmediate(resolve));
  abort.abort();
  expect((await killed).code).toBe(137);
});

test('a loop without a pause leaves the event loop its turns', async () => {
  const { run, abort } = shell();
  const endless = run('while true; do :; done');
  await new Promise((resolve) => setImmediate(resolve));
  abort.abort();
  expect((await endless).code).toBe(137);
});

test('only commands that are all known are run, others are merely simulated', () => {
  expect(understands(['sh', '-c', 'while true; do date; sleep 1; done'])).toBe(true);
  expect(understands(['/bin/sleep', 'infinity'])).toBe(true);
  expect(understands(['sh', '-c', 'exec nginx -g "daemon off;"'])).toBe(false);
  expect(understands(['python', 'app.py'])).toBe(false);
});
