import { expect, test } from 'vitest';
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
