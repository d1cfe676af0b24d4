import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ask } from '../support/serving.ts';

const CLI = fileURLToPath(new URL('../../dist/cli/cli.js', import.meta.url));

let directory: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pilothouse-command-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

const startCommand = (...args: string[]) => {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  return { child, exited, nextLine: async () => (await lines.next()).value as string | undefined };
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

test.each(['SIGTERM', 'SIGINT'] as const)(
  'serve prints its link, serves the console, and %s ends it cleanly',
  async (signal) => {
    const { child, exited, nextLine } = startCommand('serve', '--data', directory);
    const [word, url = ''] = (await nextLine())?.split(' ') ?? [];
    expect([word, url]).toEqual([
      'console',
      expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}$/),
    ]);
    expect(await nextLine()).toBe(`no cluster in ${directory}; open a kubeconfig in the console`);

    const port = Number(new URL(url).port);
    const target = { port, authorityPem: readFileSync(join(directory, 'serve', 'ca.crt'), 'utf8') };
    const signedIn = await ask(target, url.slice(new URL(url).origin.length));
    const cookie = signedIn.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const page = await ask(target, '/', { headers: { cookie } });
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('<div id="app">')]);

    child.kill(signal);
    expect(await exited).toBe(0);
    expect(await isListening(port)).toBe(false);
  },
);

test('serve -o json is one line for a program', async () => {
  const { child, exited, nextLine } = startCommand('serve', '--data', directory, '-o', 'json');
  const answer = JSON.parse((await nextLine()) ?? '') as Record<string, unknown>;
  expect(answer).toEqual({
    url: expect.stringContaining(`https://127.0.0.1:${String(answer['port'])}/?token=`) as string,
    port: expect.any(Number) as number,
    authorityPath: join(directory, 'serve', 'ca.crt'),
    kubeconfig: null,
  });
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
});

test('a command that does not exist ends with code 2 and one line', async () => {
  const { child, exited } = startCommand('fly');
  let told = '';
  child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
  expect(await exited).toBe(2);
  expect(told).toBe('pilothouse: unknown command "fly"; run pilothouse help for a list\n');
});
