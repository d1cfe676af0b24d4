import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  DEPLOYMENT,
  ENDPOINTS,
  ENDPOINT_SLICE,
  POD,
  SERVICE,
  SERVICE_ACCOUNT,
} from '../../core/client/index.ts';
import { hasRealEtcd } from '../support/etcd-cluster.ts';
import { startManagedCluster, type ManagedCluster } from '../support/managed-cluster.ts';
import { until } from '../support/until.ts';

const FLAVOURS = [
  { etcd: 'pilothouse', octet: 101 },
  { etcd: 'etcd', octet: 109 },
] as const;

const present = FLAVOURS.filter(({ etcd }) => etcd === 'pilothouse' || hasRealEtcd());

describe.each(present)('on $etcd', ({ etcd, octet }) => {
  let cluster: ManagedCluster;

  beforeAll(async () => {
    cluster = await startManagedCluster({ octet, etcd, nodes: 2 });
    cluster.managers.start({ name: 'kube-scheduler' });
    cluster.managers.start({ name: 'kube-controller-manager' });
  });

  afterAll(() => cluster?.close());

  test('a deployment runs and its service has the addresses of its pods', async () => {
    const client = cluster.managers.client();
    const labels = { app: 'web' };
    await until('the account of the namespace', () =>
      client.resource(SERVICE_ACCOUNT, 'default').find('default'),
    );
    await client.resource(SERVICE, 'default').create({
      metadata: { name: 'web' },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    });
    await client.resource(DEPLOYMENT, 'default').create({
      metadata: { name: 'web' },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'web', image: 'web:1', ports: [{ containerPort: 8080 }] }] },
        },
      },
    });
    const { status } = await until('three available replicas', async () => {
      const found = await client.resource(DEPLOYMENT, 'default').get('web');
      return found.status?.availableReplicas === 3 && found;
    });
    expect(status).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      updatedReplicas: 3,
      observedGeneration: 1,
    });
    const pods = (await client.resource(POD, 'default').list()).items;
    const addresses = pods.map((pod) => pod.status?.podIP).sort();
    expect(pods.map((pod) => pod.status?.phase)).toEqual(['Running', 'Running', 'Running']);
    const filled = async (): Promise<boolean> => {
      const endpoints = await client.resource(ENDPOINTS, 'default').find('web');
      const slices = (await client.resource(ENDPOINT_SLICE, 'default').list()).items.filter(
        ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web',
      );
      const ofEndpoints = endpoints?.subsets?.flatMap((subset) =>
        (subset.addresses ?? []).map(({ ip }) => ip),
      );
      const ofSlices = slices.flatMap((slice) => slice.endpoints ?? []).flatMap((one) => one.addresses);
      return (
        JSON.stringify(ofEndpoints?.sort()) === JSON.stringify(addresses) &&
        JSON.stringify(ofSlices.sort()) === JSON.stringify(addresses)
      );
    };
    await until('the endpoints of all three', filled);
  });
});
