import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NODE } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { eventually } from '../../proxy/forwarding/testing/sockets.ts';
import { INSTANCE_FILE, markInstance } from '../loopback/instance-file.ts';
import { startOnFake, type RunningCloud } from '../testing/start-on-fake.ts';
import { cloudNodeLifecycleController, SHUTDOWN_TAINT } from './cloud-node-lifecycle-controller.ts';

let folder = '';
let api: FakeApi;
let running: RunningCloud;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cloud-lifecycle-'));
  api = new FakeApi();
});
afterEach(async () => {
  await running.stop();
  await rm(folder, { recursive: true });
});

const seed = (name: string, ready: string) =>
  api.seed(NODE, {
    metadata: { name },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  });

const start = async () => {
  running = await startOnFake(api, [cloudNodeLifecycleController], { 'cloud-config': folder });
};

/** A round reads a file, which the fake API does not see: passed when the next one can start. */
const nextRound = async (isSo: () => boolean) => {
  await eventually(() => api.clock.pendingCount > 0);
  api.clock.advance(5000);
  await eventually(isSo);
};

const taintsOf = (name: string) => (api.get(NODE, name).spec?.taints ?? []).map(({ key }) => key);

test('a silent node whose instance is gone is deleted, a ready one is not', async () => {
  seed('worker-1', 'Unknown');
  seed('worker-2', 'True');
  seed('worker-3', 'Unknown');
  await markInstance(folder, 'worker-1', { state: 'deleted' });
  await markInstance(folder, 'worker-2', { state: 'deleted' });
  await start();
  await eventually(() => api.find(NODE, 'worker-1') === undefined && api.clock.pendingCount > 0);
  expect(api.list(NODE).map(({ metadata }) => metadata.name)).toEqual(['worker-2', 'worker-3']);
  expect(running.events).toEqual([
    'Normal DeletingNode worker-1: Deleting node worker-1 because it does not exist in the cloud provider',
  ]);
});

test('a silent node whose instance is stopped is tainted until it is ready again', async () => {
  seed('worker-1', 'Unknown');
  await markInstance(folder, 'worker-1', { state: 'stopped' });
  await start();
  await eventually(() => taintsOf('worker-1').includes(SHUTDOWN_TAINT));
  api.edit(NODE, 'worker-1', (node) => {
    node.status!.conditions = [{ type: 'Ready', status: 'True' }];
  });
  await api.settle();
  await nextRound(() => taintsOf('worker-1').length === 0);
});

test('a cloud that cannot say costs no one its node', async () => {
  seed('worker-1', 'Unknown');
  await writeFile(join(folder, INSTANCE_FILE), '{');
  await start();
  await nextRound(() => api.clock.pendingCount > 0);
  expect(api.find(NODE, 'worker-1')).toBeDefined();
});
