import { expect, test } from 'vitest';
import { applyStrategicMergePatch, typeNodeOf } from '../../api/patch/index.ts';
import { structOfKind } from '../../api/schema/models.ts';
import { statusPatch } from './status-writer.ts';

test('a patch has what differs, takes back what was ours, and leaves what is others’', () => {
  const before = {
    phase: 'Pending',
    message: 'waits',
    startTime: '2026-01-01T00:00:00Z',
    nominatedNodeName: 'n2',
    podIPs: [{ ip: '127.0.0.1' }],
  };
  const wanted = { phase: 'Running', startTime: '2026-01-01T00:00:00Z', podIPs: [{ ip: '127.0.0.1' }] };
  expect(statusPatch(before, wanted)).toEqual({ phase: 'Running', message: null });
});

test('a pod that has become ready keeps no reason why it was not, and no address that it has lost', () => {
  const before = {
    podIPs: [{ ip: '127.9.0.1' }],
    conditions: [
      { type: 'Ready', status: 'False', reason: 'ContainersNotReady', message: 'unready: [a]' },
      { type: 'example.com/gate', status: 'True' },
    ],
  };
  const gate = { type: 'example.com/gate', status: 'True' };
  const wanted = { podIPs: [{ ip: '127.9.0.2' }], conditions: [gate, { type: 'Ready', status: 'True' }] };
  const status = statusPatch(before, wanted)!;
  expect(status['conditions']).toHaveLength(1);
  const pod = typeNodeOf(structOfKind({ group: '', version: 'v1', kind: 'Pod' })!);
  expect(applyStrategicMergePatch({ status: before }, { status }, pod)).toEqual({
    status: { podIPs: wanted.podIPs, conditions: [{ type: 'Ready', status: 'True' }, gate] },
  });
});

test('nothing is written when only the order of keys differs', () => {
  const state = { running: { startedAt: 't' } };
  const before = {
    containerStatuses: [{ name: 'a', image: 'i', imageID: '', ready: true, restartCount: 0, state }],
  };
  const wanted = {
    containerStatuses: [{ state, restartCount: 0, ready: true, imageID: '', image: 'i', name: 'a' }],
  };
  expect(statusPatch(before, wanted)).toBeUndefined();
});
