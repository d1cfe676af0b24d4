import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitFailure } from './commit-failure.ts';

const PATH = join(tmpdir(), 'db.0.lmdb');

test('the cause that lmdb promises is in the one line, and is handled', async () => {
  const commitError = Promise.reject(new Error('Input/output error'));
  const failure = await commitFailure(Object.assign(new Error('Commit failed'), { commitError }), PATH);
  expect(failure.message).toBe(`cannot write ${PATH}: Input/output error`);
});

test('a failure without a promised cause is its own cause', async () => {
  expect((await commitFailure(new Error('MDB_MAP_FULL'), PATH)).message).toBe(
    `cannot write ${PATH}: MDB_MAP_FULL`,
  );
});

test('a cause that never comes is not waited for', async () => {
  const error = Object.assign(new Error('Commit failed'), { commitError: new Promise(() => undefined) });
  expect((await commitFailure(error, PATH)).message).toBe(`cannot write ${PATH}: Commit failed`);
});
