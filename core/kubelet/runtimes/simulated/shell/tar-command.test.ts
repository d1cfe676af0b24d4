import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../base/node/clock.ts';
import { encodeHeader, END_BYTES, paddingOf } from '../../../../base/node/tar/header.ts';
import { Budget } from './budget.ts';
import { LAYER_BYTES_MAX, MemoryFileSystem, newLayer } from './file-system.ts';
import { Shell } from './interpreter.ts';
import { Pipe } from './pipe.ts';
import type { ShellHost } from './process.ts';
import { bytesOf, textOf } from './text-bytes.ts';

const shell = () => {
  const clock = systemClock;
  const budget = new Budget(clock);
  const files = new MemoryFileSystem(newLayer(new Map()), [], { nowMs: () => 5_000 });
  const host = {
    clock,
    hostname: 'web-0',
    podName: 'web-0',
    namespace: 'default',
    nodeName: 'n1',
    podIP: '127.1.2.3',
    kernelVersion: '6.6',
    user: { name: 'root', uid: 0, gid: 0 },
    init: 'nginx',
    fileSystem: files,
    budget,
    networks: [],
  } satisfies ShellHost;
  const run = async (argv: readonly string[], stdin: Uint8Array = new Uint8Array()) => {
    const instance = new Shell({ host, environment: new Map(), signal: new AbortController().signal });
    const input = new Pipe(budget);
    input.write(textOf(stdin));
    input.end();
    let [out, err] = ['', ''];
    const code = await instance.runCommand(argv, {
      input,
      out: (text) => (out += text),
      err: (text) => (err += text),
    });
    instance.dispose();
    return { code, out: bytesOf(out), err };
  };
  return { run, files, budget };
};

const BINARY = Buffer.from(Array.from({ length: 700 }, (_, at) => (at * 7) % 256));

test('an archive of one container is unpacked by the system tar and by another container, byte for byte', async () => {
  const from = shell();
  from.files.makeDirectory('/tmp/data');
  from.files.write('/tmp/data/bin', BINARY, { mode: 0o755, mtimeMs: 1_000_000 });
  from.files.write('/tmp/data/-odd name\nü', Buffer.from('x'));
  const packed = await from.run(['tar', 'cf', '-', '/tmp/data']);
  expect(packed.code).toBe(0);
  expect(packed.err).toBe("tar: removing leading '/' from member names\n");
  const seen = execFileSync('tar', ['-xOf', '-', 'tmp/data/bin'], { input: packed.out });
  expect(seen).toEqual(BINARY);

  const to = shell();
  expect(await to.run(['tar', '-xf', '-', '-C', '/home'], packed.out)).toMatchObject({ code: 0, err: '' });
  expect(to.files.read('/home/tmp/data/bin')).toEqual(BINARY);
  expect(to.files.stat('/home/tmp/data/bin')).toMatchObject({ mode: 0o755, mtimeMs: 1_000_000 });
  expect(to.files.list('/home/tmp/data').map(({ name }) => name)).toEqual(['-odd name\nü', 'bin']);
  expect(to.budget.characters).toBe(0);
});

test.each([
  [['tar', '-xmf', '-'], '/app/x', 0o775, 5_000],
  [
    ['tar', '--no-same-permissions', '--no-same-owner', '-xmf', '-', '-C', '/tmp'],
    '/tmp/app/x',
    0o755,
    5_000,
  ],
  [['tar', 'xf', '-', '--strip-components=1', '-C', '/tmp'], '/tmp/x', 0o775, 60_000],
])('%j as kubectl calls it', async (argv, path, mode, mtimeMs) => {
  const { run, files } = shell();
  const entry = { name: 'app/x', type: 'file', sizeBytes: 2, mode: 0o775, mtimeMs: 60_000 } as const;
  const archive = Buffer.concat([
    encodeHeader(entry),
    Buffer.from('hi'),
    Buffer.alloc(paddingOf(2)),
    Buffer.alloc(END_BYTES),
  ]);
  expect(await run(argv, archive)).toMatchObject({ code: 0, err: '' });
  expect(Buffer.from(files.read(path)).toString()).toBe('hi');
  expect(files.stat(path)).toMatchObject({ mode, mtimeMs });
});

const member = (name: string, sizeBytes = 0, type: 'file' | 'symlink' = 'file'): Buffer =>
  Buffer.concat([
    encodeHeader({ name, type, sizeBytes, mode: 0o644, mtimeMs: 0, target: '/etc' }),
    Buffer.alloc(sizeBytes + paddingOf(sizeBytes)),
  ]);

test.each([
  ['a name that leads out', member('../../etc/x'), "contains '..'"],
  ['a link', member('link', 0, 'symlink'), 'Operation not permitted'],
  ['a file larger than the disk', member('big', LAYER_BYTES_MAX + 1), 'No space left on device'],
  ['an archive that is cut off', member('cut', 2_000).subarray(0, 1_000), 'unexpected end of file'],
  ['noise', Buffer.alloc(1024, 0x41), 'not a tar archive'],
  ['nothing', Buffer.alloc(0), 'short read'],
])('%s fails with a reason, and what came before it stays', async (_what, bad, why) => {
  const { run, files, budget } = shell();
  const isNothing = bad.length === 0;
  const result = await run(
    ['tar', 'xf', '-', '-C', '/tmp'],
    isNothing ? bad : Buffer.concat([member('ok'), bad]),
  );
  expect(result.code).toBe(1);
  expect(result.err).toContain(why);
  expect(files.list('/tmp').map(({ name }) => name)).toEqual(isNothing ? [] : ['ok']);
  expect(budget.characters).toBe(0);
});

test.each([
  [['tar', 'czf', '-', '/tmp'], "tar: invalid option -- 'z'\n"],
  [['tar', '--checkpoint-action=exec=sh', '-xf', '-'], "tar: unrecognized option '--checkpoint-action'\n"],
  [['tar', 'cf', '-', '/nowhere'], '/nowhere: No such file or directory\n'],
  [['tar', 'f', '-'], 'must specify exactly one'],
])('%j says what is wrong', async (argv, why) => {
  const { code, err } = await shell().run(argv);
  expect(code).toBe(1);
  expect(err).toContain(why);
});

test('a folder is listed by find and stat with type, size and time of each name', async () => {
  const { run, files } = shell();
  files.makeDirectory('/tmp/a');
  files.write('/tmp/a b', Buffer.from('four'), { mode: 0o600, mtimeMs: 9_000 });
  files.write('/tmp/a/deep', Buffer.from('x'));
  const search = ['find', '/tmp/.', '-mindepth', '1', '-maxdepth', '1'];
  const listed = await run([...search, '-exec', 'stat', '-c', '%f %s %Y %n', '{}', '+', '-type', 'l']);
  expect(listed.out.toString()).toBe('41ed 4096 5 /tmp/./a\n8180 4 9 /tmp/./a b\n');
  expect((await run(['find', '/tmp', '-type', 'f', '-name', 'd*p'])).out.toString()).toBe('/tmp/a/deep\n');
  expect((await run(['find', '/tmp', '-delete'])).err).toBe('find: unrecognized: -delete\n');
});

test('head and tail take bytes, as kubectl does to continue a copy', async () => {
  const { run } = shell();
  expect((await run(['head', '-c', '300'], BINARY)).out).toEqual(BINARY.subarray(0, 300));
  expect((await run(['tail', '-c+301'], BINARY)).out).toEqual(BINARY.subarray(300));
  expect((await run(['tail', '-c', '5'], BINARY)).out).toEqual(BINARY.subarray(-5));
});
