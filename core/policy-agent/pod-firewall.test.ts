import { expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { NAMESPACE, NETWORK_POLICY, NODE, POD } from '../client/index.ts';
import { FakeApi } from '../client/testing/index.ts';
import { PodFirewall } from './pod-firewall.ts';

/** A machine with these tables; what is written is kept. */
const start = (tables: readonly string[]) => {
  const api = new FakeApi();
  const { clock, random } = api;
  const present = new Set(tables);
  const scripts: string[] = [];
  let isAway = false;
  const firewall = new PodFirewall({
    bridge: 'ph-40',
    cluster: 'c1',
    host: 'workers',
    isLocal: (address) => address.startsWith('10.41.'),
    nodeNames: ['worker-1'],
    connect: () => Promise.resolve(Object.assign(api.client(), { dispose: () => undefined })),
    ...{ clock, random, log: silentLog },
    bridgeFilter: () => Promise.resolve(),
    run: (argv, input = '') => {
      if (isAway) return Promise.reject(new Error('nft: not found'));
      if (argv[1] === 'list')
        return Promise.resolve([...present].map((name) => `table ip ${name}\n`).join(''));
      for (const [, verb, name = ''] of input.matchAll(/^(add|delete) table ip (\S+)$/gm))
        if (verb === 'add') present.add(name);
        else present.delete(name);
      scripts.push(input);
      return Promise.resolve('');
    },
  });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) {
      await api.settle();
      clock.advance(100);
    }
    await api.settle();
  };
  api.seed(NAMESPACE, { metadata: { name: 'default' } });
  api.seed(NODE, {
    metadata: { name: 'shed' },
    status: { addresses: [{ type: 'InternalIP', address: '192.0.2.9' }] },
  });
  return { api, firewall, present, scripts, settle, setAway: (away: boolean) => (isAway = away) };
};

const pod = (name: string, ip: string) => ({
  metadata: { name, namespace: 'default', uid: name, labels: { app: name } },
  spec: { containers: [{ name: 'a', image: 'x' }] },
  status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], hostIP: '192.0.2.1' },
});
const closed = { podSelector: {}, policyTypes: ['Ingress'] };

test('without a policy there is no table, and those of a cluster before are removed', async () => {
  const { firewall, present, settle } = start([
    'nat',
    'pilothouse-ph-40-c1-workers',
    'pilothouse-ph-40-c1-cp-1',
    'pilothouse-ph-40-c0-workers',
    'pilothouse-ph-400-c0-workers',
  ]);
  firewall.start();
  await settle();
  expect([...present].sort()).toEqual(['nat', 'pilothouse-ph-40-c1-cp-1', 'pilothouse-ph-400-c0-workers']);
  firewall.dispose();
});

test('rules follow policies and pods, and go with the last policy', async () => {
  const { api, firewall, present, scripts, settle } = start([]);
  api.seed(POD, pod('web', '10.41.0.2'));
  api.seed(POD, pod('far', '10.42.0.2'));
  firewall.start();
  await settle();
  api.seed(NETWORK_POLICY, { metadata: { name: 'closed', namespace: 'default' }, spec: closed });
  await settle();
  expect([...present]).toEqual(['pilothouse-ph-40-c1-workers']);
  expect(scripts.at(-1)).toContain('ingress-pods { 10.41.0.2 : goto pod-ingress-10.41.0.2 }');
  expect(scripts.at(-1)).toContain('ip saddr { 192.0.2.9 } accept');
  api.remove(NETWORK_POLICY, 'closed');
  await settle();
  expect([...present]).toEqual([]);
  firewall.dispose();
});

test('a pod is admitted once its rules are written, or when that takes too long', async () => {
  const { api, firewall, scripts, settle, setAway } = start([]);
  api.seed(NETWORK_POLICY, { metadata: { name: 'closed', namespace: 'default' }, spec: closed });
  firewall.start();
  await settle();
  const admitted: string[] = [];
  const admit = (name: string, ip: string): void =>
    void firewall
      .admit({ ...pod(name, ''), status: { phase: 'Pending', hostIP: '192.0.2.1' } }, [ip])
      .then(() => admitted.push(name));
  admit('new', '10.41.0.7');
  await api.settle();
  expect(admitted).toEqual([]);
  await settle();
  expect(admitted).toEqual(['new']);
  expect(scripts.at(-1)).toContain('10.41.0.7 : goto pod-ingress-10.41.0.7');
  setAway(true);
  admit('late', '10.41.0.8');
  await settle();
  expect(admitted).toEqual(['new']);
  api.clock.advance(10_000);
  await api.settle();
  expect(admitted).toEqual(['new', 'late']);
  setAway(false);
  api.clock.advance(5_000);
  await settle();
  expect(scripts.at(-1)).toContain('10.41.0.8 : goto pod-ingress-10.41.0.8');
  firewall.forget('new');
  await settle();
  expect(scripts.at(-1)).toContain('delete element ip pilothouse-ph-40-c1-workers ingress-pods { 10.41.0.7');
  firewall.dispose();
});
