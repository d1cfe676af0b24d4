import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseIpv4Range } from '../../core/base/bind-rules.ts';
import { silentLog } from '../../core/base/log.ts';
import { ENDPOINT_SLICE, InformerFactory, NODE, SERVICE, type Service } from '../../core/client/index.ts';
import { FakeApi } from '../../core/client/testing/index.ts';
import { createProxy, type Proxy } from '../../core/proxy/create-proxy.ts';
import { networkLab, noNamespaces, type NetworkLab } from '../support/network-namespaces.ts';

const NODE_ADDRESS = '10.214.0.1';
const PODS = { c: '10.214.1.9', a: '10.214.1.1', b: '10.214.1.2', out: '192.0.2.7' };
const SERVED = 8080;
/** One of two endpoints is missed by all of them once in a million runs. */
const ATTEMPTS = 20;

interface Behind {
  readonly pod: 'a' | 'b';
  readonly nodeName?: string;
  readonly ready?: boolean;
  readonly terminating?: boolean;
  readonly zone?: string;
}

/** Skipped, with the reason in its name, where there is no root or no nftables. */
describe.skipIf(noNamespaces !== undefined)(
  `kube-proxy by nftables${noNamespaces ? ` (${noNamespaces})` : ''}`,
  () => {
    let lab: NetworkLab;
    let proxy: Proxy;
    let informers: InformerFactory;
    let scripts: string[];
    const api = new FakeApi();

    const endpoints = (behind: readonly Behind[]) =>
      behind.map(({ pod, nodeName = 'n1', ready = true, terminating = false, zone }) => ({
        addresses: [PODS[pod]],
        conditions: { ready, serving: ready || terminating, terminating },
        nodeName,
        ...(zone !== undefined && { hints: { forZones: [{ name: zone }] } }),
      }));
    const ports = [
      { name: 'http', port: SERVED, protocol: 'TCP' },
      { name: 'udp', port: SERVED, protocol: 'UDP' },
    ];
    const service = (
      name: string,
      clusterIP: string,
      spec: Service['spec'],
      behind: readonly Behind[],
      status = {},
    ) => {
      const nodePort = spec?.type === 'NodePort' || spec?.type === 'LoadBalancer';
      api.seed(SERVICE, {
        metadata: { name },
        spec: {
          clusterIP,
          ports: [
            {
              name: 'http',
              port: 80,
              protocol: 'TCP',
              ...(nodePort && { nodePort: 30_000 + Number(clusterIP.split('.')[3]) }),
            },
            { name: 'udp', port: 53, protocol: 'UDP' },
          ],
          ...spec,
        },
        status,
      });
      api.seed(ENDPOINT_SLICE, {
        metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
        addressType: 'IPv4',
        endpoints: endpoints(behind),
        ports,
      });
    };
    const change = async (name: string, behind: readonly Behind[]) => {
      api.edit(ENDPOINT_SLICE, `${name}-1`, (slice) => {
        slice.endpoints = endpoints(behind);
      });
      await api.settle();
      await proxy.settled();
    };
    /** Who answers, in as many attempts as make it unlikely that one of two is missed. */
    const answers = async (from: string, address: string, port: number): Promise<string[]> => {
      const seen = await lab.ask(from, address, port, ATTEMPTS);
      return [...new Set(seen.map((answer) => answer.split(' ')[0]!))].sort();
    };
    const once = async (from: string, address: string, port: number): Promise<string> =>
      (await lab.ask(from, address, port))[0]!;

    beforeAll(async () => {
      lab = await networkLab({ nodeAddress: NODE_ADDRESS, pods: PODS });
      await Promise.all(['a', 'b'].map((pod) => lab.serve(pod, SERVED)));
      const both: Behind[] = [{ pod: 'a' }, { pod: 'b' }];
      const apart: Behind[] = [
        { pod: 'a', nodeName: 'n1' },
        { pod: 'b', nodeName: 'n2' },
      ];
      api.seed(NODE, {
        metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'z1' } },
        status: { addresses: [{ type: 'InternalIP', address: NODE_ADDRESS }] },
      });
      service('plain', '10.96.0.1', {}, both);
      service('empty', '10.96.0.2', {}, []);
      service('sticky', '10.96.0.3', { sessionAffinity: 'ClientIP' }, both);
      service('inner-local', '10.96.0.4', { internalTrafficPolicy: 'Local' }, apart);
      service('inner-none', '10.96.0.5', { internalTrafficPolicy: 'Local' }, [{ pod: 'b', nodeName: 'n2' }]);
      service('node-port', '10.96.0.6', { type: 'NodePort', externalIPs: ['198.51.100.6'] }, both);
      service(
        'outer-local',
        '10.96.0.7',
        { type: 'LoadBalancer', externalTrafficPolicy: 'Local', loadBalancerSourceRanges: ['192.0.2.0/24'] },
        apart,
        { loadBalancer: { ingress: [{ ip: '198.51.100.7' }] } },
      );
      service('hinted', '10.96.0.8', {}, [
        { pod: 'a', zone: 'z1' },
        { pod: 'b', zone: 'z2' },
      ]);
      service('ending', '10.96.0.9', {}, [{ pod: 'a', ready: false, terminating: true }]);
      const { clock, random } = api;
      informers = new InformerFactory({ client: api.client(), clock, random, log: silentLog, freeze: true });
      scripts = [];
      proxy = createProxy({
        informers,
        nodeNames: ['n1'],
        clusterRanges: [parseIpv4Range('10.214.1.0/24')!],
        nftables: {
          run: (argv, input) => {
            if (argv[0] === 'nft') scripts.push(input ?? '');
            return lab.inNode(argv, input);
          },
        },
        clock,
        random,
        log: silentLog,
      });
      informers.start();
      await api.settle();
      await proxy.synced;
    });
    afterAll(async () => {
      await proxy?.close();
      await informers?.stop();
      await lab?.close();
    });

    test('a cluster IP leads to every endpoint, and pods keep their address', async () => {
      expect(await answers('c', '10.96.0.1', 80)).toEqual(['a', 'b']);
      expect(await once('c', '10.96.0.9', 80)).toBe(`a ${PODS.c}`);
      // From beyond the cluster's pods, and from the node itself.
      expect(await once('out', '10.96.0.9', 80)).toBe(`a ${NODE_ADDRESS}`);
      expect((await once('node', '10.96.0.9', 80)).split(' ')[0]).toBe('a');
    });

    test('a pod reaches itself through its Service', async () => {
      expect(await once('a', '10.96.0.9', 80)).toBe(`a ${NODE_ADDRESS}`);
    });

    test('no endpoints and unknown ports are rejected; Local without local ones is dropped', async () => {
      expect(await once('c', '10.96.0.2', 80)).toBe('refused');
      expect(await once('c', '10.96.0.1', 81)).toBe('refused');
      expect(await once('c', '10.96.0.5', 80)).toBe('silent');
    });

    test('affinity, local policies and topology hints choose endpoints', async () => {
      expect((await answers('c', '10.96.0.3', 80)).length).toBe(1);
      expect(await answers('c', '10.96.0.4', 80)).toEqual(['a']);
      expect(await answers('c', '10.96.0.8', 80)).toEqual(['a']);
    });

    test('node ports and external addresses are served, and masqueraded with policy Cluster', async () => {
      expect(await answers('out', NODE_ADDRESS, 30_006)).toEqual(['a', 'b']);
      expect(await answers('out', '198.51.100.6', 80)).toEqual(['a', 'b']);
      expect((await once('out', NODE_ADDRESS, 30_006)).split(' ')[1]).toBe(NODE_ADDRESS);
    });

    test('policy Local keeps the address of clients and the sources that a load balancer admits', async () => {
      expect(await once('out', '198.51.100.7', 80)).toBe(`a ${PODS.out}`);
      expect(await answers('out', NODE_ADDRESS, 30_007)).toEqual(['a']);
      // Pods are no part of loadBalancerSourceRanges.
      expect(await once('c', '198.51.100.7', 80)).toBe('silent');
      expect(await answers('c', NODE_ADDRESS, 30_007)).toEqual(['a', 'b']);
    });

    test('a change writes nothing else, and flows of UDP leave pods that are gone', async () => {
      await change('plain', [{ pod: 'a' }]);
      expect(await lab.askUdp('c', '10.96.0.1', 53, 5_353)).toBe('a');
      scripts.length = 0;
      await change('plain', [{ pod: 'b' }]);
      expect(await lab.askUdp('c', '10.96.0.1', 53, 5_353)).toBe('b');
      expect(await answers('c', '10.96.0.1', 80)).toEqual(['b']);
      expect(scripts.length).toBe(1);
      expect(scripts[0]).not.toMatch(/10\.96\.0\.[2-9]|sticky|delete table/);
    });

    test('rules that someone else removed are written again after a failure', async () => {
      await lab.inNode(['nft', 'delete', 'table', 'ip', 'kube-proxy']);
      await change('plain', [{ pod: 'a' }]);
      api.clock.advance(30_000);
      await api.settle();
      await proxy.settled();
      expect(await answers('c', '10.96.0.1', 80)).toEqual(['a']);
    });
  },
);
