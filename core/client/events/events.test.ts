import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { forbidden } from '../../api/meta/status-errors.ts';
import { EVENT, POD, type Pod } from '../kinds.ts';
import type { Stored } from '../kind.ts';
import { TransportError } from '../rest/transport.ts';
import { FakeApi } from '../testing/index.ts';
import { ApiEventRecorder } from './api-event-recorder.ts';

const setUp = () => {
  const api = new FakeApi();
  const pod = api.seed(POD, { metadata: { name: 'web' }, spec: { containers: [] } })[0] as Stored<Pod>;
  const recorder = new ApiEventRecorder({
    client: api.client(),
    clock: api.clock,
    random: api.random,
    log: silentLog,
    component: 'kubelet',
    host: 'n1',
  });
  return { api, pod, recorder };
};

test('an event says what happened to what, and who says so', async () => {
  const { api, pod, recorder } = setUp();
  recorder.event(pod, 'Normal', 'Started', 'Started container', { fieldPath: 'spec.containers{a}' });
  await recorder.stop();
  expect(api.list(EVENT)).toMatchObject([
    {
      metadata: { name: expect.stringMatching(/^web\.[0-9a-f]{16}$/), namespace: 'default' },
      involvedObject: {
        apiVersion: 'v1',
        kind: 'Pod',
        name: 'web',
        uid: pod.metadata.uid,
        fieldPath: 'spec.containers{a}',
      },
      type: 'Normal',
      reason: 'Started',
      message: 'Started container',
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      source: { component: 'kubelet', host: 'n1' },
      reportingComponent: 'kubelet',
      reportingInstance: 'n1',
    },
  ]);
});

test('an event that repeats is counted, and recreated when the server no longer has it', async () => {
  const { api, pod, recorder } = setUp();
  const tell = async (): Promise<void> => {
    recorder.event(pod, 'Warning', 'BackOff', 'again');
    await api.advance(1_000);
  };
  for (let i = 0; i < 3; i += 1) await tell();
  expect(api.list(EVENT)).toMatchObject([
    { count: 3, firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:00:02Z' },
  ]);
  api.remove(EVENT, api.list(EVENT)[0]!.metadata.name);
  await tell();
  expect(api.list(EVENT)).toMatchObject([{ count: 4 }]);
  await recorder.stop();
});

test('after ten different messages with one reason the rest are one event', async () => {
  const { api, pod, recorder } = setUp();
  for (let i = 0; i < 14; i += 1) recorder.event(pod, 'Warning', 'Failed', `message ${i}`);
  await recorder.stop();
  const events = api.list(EVENT);
  expect(events.length).toBe(10);
  expect(events.at(-1)).toMatchObject({
    message: '(combined from similar events): message 13',
    count: 5,
  });
});

test('one object gets 25 events at the same time, and one more in five minutes', async () => {
  const { api, pod, recorder } = setUp();
  for (let i = 0; i < 30; i += 1) recorder.event(pod, 'Normal', `Reason${i}`, 'x');
  await api.settle();
  expect([api.list(EVENT).length, recorder.droppedCount]).toEqual([25, 5]);
  await api.advance(300_001);
  recorder.event(pod, 'Normal', 'Late', 'x');
  await recorder.stop();
  expect(api.list(EVENT).length).toBe(26);
});

test('a server that is away is tried again, one that refuses is not, and a full queue drops', async () => {
  const { api, pod, recorder } = setUp();
  const lost = new TransportError('ConnectionLost', 'x', { maybeProcessed: true });
  api.failNext({ plural: 'events' }, lost, 3);
  recorder.event(pod, 'Normal', 'A', 'x');
  await api.advance(60_000, 1_000);
  expect(api.list(EVENT).length).toBe(1);
  api.failNext({ plural: 'events' }, forbidden({ group: '', resource: 'events' }, '', 'no'));
  recorder.event(pod, 'Normal', 'B', 'x');
  await api.advance(60_000, 1_000);
  expect([api.list(EVENT).length, recorder.droppedCount]).toEqual([1, 1]);
  for (let i = 0; i < 1100; i += 1) recorder.event(pod, 'Normal', 'C', 'x');
  expect(recorder.droppedCount).toBe(101);
  await recorder.stop('now');
});
