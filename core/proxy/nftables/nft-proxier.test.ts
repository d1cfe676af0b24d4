import { expect, test } from 'vitest';
import { parseIpv4Range } from '../../base/bind-rules.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { silentLog } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import type { Node, Stored } from '../../client/index.ts';
import { ProxyHealth } from '../health/proxy-health.ts';
import { proxyMetrics } from '../metrics.ts';
import { NodeTable } from '../model/node-table.ts';
import { NftProxier } from './nft-proxier.ts';

const NODE = {
  metadata: { name: 'n1' },
  status: {
    addresses: ['192.0.2.1', '198.51.100.1'].map((address) => ({ type: 'InternalIP', address })),
  },
} as Stored<Node>;

const nodePortIps = async (ranges: readonly string[]): Promise<string> => {
  const clock = manualClock();
  const metrics = proxyMetrics(new Registry());
  const nodes = new NodeTable();
  nodes.set(NODE);
  let script = '';
  const proxier = new NftProxier({
    nodes,
    health: new ProxyHealth({ clock, metrics, isNodeEligible: () => true }),
    metrics,
    clusterRanges: [],
    nodePortRanges: ranges.map((text) => parseIpv4Range(text)!),
    clock,
    log: silentLog,
    run: (_, input = '') => Promise.resolve((script = input)),
  });
  await proxier.sync('default/none', undefined, [], ['n1']);
  await proxier.flush();
  proxier.close();
  return (
    script.split('\n').find((line) => line.includes('nodeport-ips {') && line.includes('192.')) ?? script
  );
};

test('node ports are served on the addresses that --nodeport-addresses names', async () => {
  expect(await nodePortIps([])).toContain('198.51.100.1');
  expect(await nodePortIps(['192.0.2.0/24'])).not.toContain('198.51.100.1');
});
