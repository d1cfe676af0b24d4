import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { systemClock } from '../../base/node/clock.ts';
import { ensurePodNetwork } from './pod-network.ts';

let networkFolder: string;
beforeEach(async () => {
  networkFolder = await mkdtemp(join(tmpdir(), 'pod-network-'));
});
afterEach(() => rm(networkFolder, { recursive: true, force: true }));

const ensure = async (problem: string | undefined): Promise<readonly string[]> => {
  const status = async () => {
    const isConfigured = (await readdir(networkFolder)).includes('10-pilothouse.conflist');
    const networkProblem = isConfigured ? undefined : problem;
    return { runtimeProblem: undefined, networkProblem, networkFolder, sandboxImage: '' };
  };
  await ensurePodNetwork(
    { status },
    { bridge: 'ph-20', range: '10.21.0.0/16', clock: systemClock, log: silentLog },
  );
  return readdir(networkFolder);
};

test('a runtime without a network is given a bridge', async () => {
  expect(await ensure('NetworkReady=false')).toEqual(['10-pilothouse.conflist']);
  const text = await readFile(join(networkFolder, '10-pilothouse.conflist'), 'utf8');
  const { plugins } = JSON.parse(text) as { readonly plugins: readonly object[] };
  expect(plugins[0]).toMatchObject({ bridge: 'ph-20', ipam: { ranges: [[{ subnet: '10.21.0.0/16' }]] } });
});

test('a runtime that has a network keeps it, also one that it cannot use', async () => {
  expect(await ensure(undefined)).toEqual([]);
  await writeFile(join(networkFolder, '00-own.conf'), 'not JSON');
  expect(await ensure('NetworkReady=false')).toEqual(['00-own.conf']);
});
