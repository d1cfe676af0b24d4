import { expect, test } from 'vitest';
import type { Client } from '../../core/client/index.ts';
import { ContractError, type FailureReason, verbatim } from '../../core/contract/index.ts';
import { readAsConsole } from './read-as-console.ts';

const reader = { name: 'console' } as unknown as Client;
const client = { name: 'person' } as unknown as Client;
const nameOf = (one: Client): string => (one as unknown as { name: string }).name;

const read = async (readers: { reader: Client; client: Client }, failure?: FailureReason) => {
  const seen: string[] = [];
  const items = readAsConsole(readers, async function* (by) {
    if (by === reader && failure) throw new ContractError(failure, verbatim('no'));
    yield Promise.resolve(nameOf(by));
  });
  for await (const item of items) seen.push(item);
  return seen;
};

test('the console reads with its own identity', async () => {
  expect(await read({ reader, client })).toEqual(['console']);
});

test('reads outside the role of the console use the identity of the person', async () => {
  expect(await read({ reader, client }, 'Forbidden')).toEqual(['person']);
});

test('another failure is not retried as the person', async () => {
  await expect(read({ reader, client }, 'Unavailable')).rejects.toThrow('no');
});

test('a cluster without an identity for the console has one reader', async () => {
  expect(await read({ reader: client, client }, 'Forbidden')).toEqual(['person']);
});
