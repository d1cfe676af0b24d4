import { expect, test } from 'vitest';
import { applyStrategicMergePatch } from '../../api/patch/strategic-merge-patch.ts';
import { typeNodeOf } from '../../api/patch/schema-types.ts';
import { structOfKind } from '../../api/schema/models.ts';
import { silentLog } from '../../base/log.ts';
import { StatusError } from '../../api/meta/status.ts';
import { POD, type Pod } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { statusPatch, StatusWriter, type StatusEntry } from './status-writer.ts';

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

test.each([true, false])(
  'a pod whose name another one has is found out by asking (mirror: %s)',
  async (isMirror) => {
    const api = new FakeApi();
    const [taken] = api.seed(POD, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { containers: [] },
    });
    api.intercept(({ verb, body }) => {
      if (verb === 'patch' && (body as Pod).metadata?.uid !== taken!.metadata.uid)
        throw new StatusError('Conflict', 'Precondition failed: UID', { code: 409 });
    });
    const writer = new StatusWriter({ clientOf: () => api.client(), clock: api.clock, log: silentLog });
    let deletions = 0;
    const entry: StatusEntry = {
      apiPod: { ...taken!, metadata: { ...taken!.metadata, uid: 'of-before' } },
      wanted: () => ({ phase: 'Running' }),
      isGone: () => false,
      isMirror,
      onDeleted: () => (deletions += 1),
    };
    writer.touch(entry);
    for (let i = 0; i < 60; i += 1) await api.advance(1_000);
    expect([deletions, entry.apiPod?.metadata.uid]).toEqual([1, isMirror ? taken!.metadata.uid : undefined]);
    expect(api.requests.filter(({ verb }) => verb === 'patch').length).toBeLessThanOrEqual(2);
    writer.dispose();
  },
);
