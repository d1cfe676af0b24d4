import { expect, test } from 'vitest';
import { ReadGate } from './read-gate.ts';

const opened = (firstContext: number) => {
  const asked: number[] = [];
  const gate = new ReadGate({
    raft: { readIndex: (context) => void asked.push(context) },
    wake: () => undefined,
    nowMs: () => 0,
    limitMs: 5000,
    readersMax: 10,
    firstContext,
    timedOut: () => new Error('timed out'),
    tooMany: () => new Error('too many'),
  });
  gate.onApplied(20);
  const read = (): { isPassed: boolean } => {
    const reader = { isPassed: false };
    void gate.pass().then(() => (reader.isPassed = true));
    gate.askCollected();
    return reader;
  };
  return { gate, asked, read };
};

test('a read passes when the index that was asked for is applied', async () => {
  const { gate, asked, read } = opened(100);
  const reader = read();
  gate.onReadStates([{ context: 101, index: 21 }]);
  await Promise.resolve();
  expect([asked, reader.isPassed]).toEqual([[101], false]);
  gate.onApplied(21);
  await Promise.resolve();
  expect(reader.isPassed).toBe(true);
});

test('an answer to a question from before a restart passes for no answer of this life', async () => {
  const before = opened(100);
  before.read();
  const after = opened(5000);
  const reader = after.read();
  after.gate.onReadStates([{ context: before.asked[0]!, index: 7 }]);
  await Promise.resolve();
  expect(reader.isPassed).toBe(false);
});

test('a new leader is asked immediately what the last one did not answer', async () => {
  const { gate, asked, read } = opened(100);
  const [answered, waiting] = [read(), read()];
  gate.onReadStates([{ context: 101, index: 21 }]);
  gate.onNewLeader();
  expect(asked).toEqual([101, 102, 103]);
  gate.onReadStates([{ context: 103, index: 20 }]);
  await Promise.resolve();
  expect([answered.isPassed, waiting.isPassed]).toEqual([false, true]);
});
