import { expect, test } from 'vitest';
import type { RangeResponse } from '../../etcd/proto/index.ts';
import { BatchedReads } from './batched-reads.ts';
import { METHOD, type EtcdClient } from './etcd-client/index.ts';

interface ReadTxn {
  readonly success: readonly { readonly requestRange: { readonly key: Buffer } }[];
}

const HEADER = { clusterId: 0n, memberId: 0n, revision: 7, raftTerm: 1 };

const etcd = (fail?: Error) => {
  const calls: string[][] = [];
  const answerOf = (key: Uint8Array): Partial<RangeResponse> => ({
    kvs: [],
    count: Buffer.from(key).length,
    more: false,
  });
  const call = (method: unknown, input: unknown): Promise<unknown> => {
    if (method === METHOD.range) {
      const { key } = input as { key: Buffer };
      calls.push([`range ${key.toString()}`]);
      return Promise.resolve({ header: HEADER, ...answerOf(key) });
    }
    const keys = (input as ReadTxn).success.map(({ requestRange }) => requestRange.key);
    calls.push(keys.map((key) => Buffer.from(key).toString()));
    if (fail) return Promise.reject(fail);
    const responses = keys.map((key) => ({ responseRange: answerOf(key) }));
    return Promise.resolve({ header: HEADER, succeeded: true, responses });
  };
  return { calls, reads: new BatchedReads({ call: call as EtcdClient['call'] }) };
};

test('the first read of a turn continues its own, and the others share one call', async () => {
  const { calls, reads } = etcd();
  const answers = await Promise.all(['a', 'bb', 'ccc'].map((key) => reads.read(Buffer.from(key))));
  expect({ calls, answers: answers.map(({ count, header }) => [count, header?.revision]) }).toEqual({
    calls: [['range a'], ['bb', 'ccc']],
    answers: [
      [1, 7],
      [2, 7],
      [3, 7],
    ],
  });
});

test('reads of different turns are calls of their own', async () => {
  const { calls, reads } = etcd();
  await reads.read(Buffer.from('a'));
  await new Promise((resolve) => setImmediate(resolve));
  await reads.read(Buffer.from('b'));
  expect(calls).toEqual([['range a'], ['range b']]);
});

test('a call has a bound', async () => {
  const { calls, reads } = etcd();
  await Promise.all(Array.from({ length: 250 }, (_, at) => reads.read(Buffer.from(String(at)))));
  expect(calls.map(({ length }) => length)).toEqual([1, 100, 100, 49]);
});

test('all callers that share a call get its error', async () => {
  const { reads } = etcd(new Error('no leader'));
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((key) => reads.read(Buffer.from(key))));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
});
