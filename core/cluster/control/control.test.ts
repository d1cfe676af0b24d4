import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ReasonError } from '../../base/errors.ts';
import { callControl } from './client.ts';
import { controlEndpoint } from '../data-folder/control-endpoint.ts';
import { serveControl, type ControlHandlers } from './server.ts';

let folder: string;
let close: () => Promise<void>;

const handlers = {
  'host.kill': ({ host }: { host: string }) =>
    host === 'cp-1' ? Promise.resolve(null) : Promise.reject(new ReasonError('NotFound', `no host ${host}`)),
  'upgrade.apply': ({ version }: { version: string }, progress: (line: string) => void) => {
    progress('one');
    progress('two');
    return Promise.resolve({ from: 'v1.35.0', to: version, snapshot: undefined });
  },
} as unknown as ControlHandlers;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-control-'));
  ({ close } = await serveControl(controlEndpoint(folder), handlers));
});
afterEach(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

test('a command is answered, a refusal keeps its reason, progress comes on the way', async () => {
  expect(await callControl(folder, 'host.kill', { host: 'cp-1' })).toBe(null);
  await expect(callControl(folder, 'host.kill', { host: 'x' })).rejects.toMatchObject({ reason: 'NotFound' });
  const lines: string[] = [];
  const outcome = await callControl(folder, 'upgrade.apply', { version: 'v1.36.0' }, (line) =>
    lines.push(line),
  );
  expect([lines, outcome.to]).toEqual([['one', 'two'], 'v1.36.0']);
});

test('only its owner may open the socket', () => {
  expect(statSync(controlEndpoint(folder)).mode & 0o777).toBe(0o600);
});

test('a malformed request closes the connection', async () => {
  const socket = connect(controlEndpoint(folder));
  socket.write('GET / HTTP/1.1\r\n\r\n');
  await once(socket, 'close');
  expect(await callControl(folder, 'host.kill', { host: 'cp-1' })).toBe(null);
});

test('where nothing runs, that is what is said', async () => {
  await expect(callControl(tmpdir(), 'status', {})).rejects.toMatchObject({ reason: 'NotRunning' });
});

test('a folder with a long name has a socket too', () => {
  const endpoint = controlEndpoint(`/${'long/'.repeat(40)}`);
  expect(Buffer.byteLength(endpoint)).toBeLessThan(104);
});
