import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { up, type RunningCluster } from '../support/cluster.ts';
import { kubernetesClient, type KubernetesClient } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import {
  custom,
  podWebhookConfiguration,
  SHOP,
  SHOP_MANIFEST,
  startPodWebhook,
  WEBHOOK_POD,
} from './custom-object-steps.ts';
import { GROUP, ROOT, startExtensionServer, type ExtensionServer } from './extension-server.ts';
import { isBuilt, rowsOf } from './kubectl-cluster.ts';

/** Aggregated APIs, metrics and autoscaling, on two API servers with real kubelets behind them. */
const NETWORK = 236;
const MINORS = [36, 20];

describe.skipIf(!isBuilt)('aggregation, metrics and autoscaling', () => {
  let data: string;
  let cluster: RunningCluster;
  let kube: KubernetesClient;
  let old: KubernetesClient;
  let extension: ExtensionServer | undefined;

  const apply = async (manifest: unknown): Promise<void> => {
    const { code, stderr } = await kube.kubectl(['apply', '-f', '-'], { input: JSON.stringify(manifest) });
    if (code !== 0) throw new Error(stderr);
  };
  /** What each API server answers on its own. */
  const raw = (server: number, path: string) =>
    kube.kubectl(['get', '--raw', path, `--server=https://127.${NETWORK}.0.${server}:6443`]);
  const deployment = (cpu: string, replicas: number): object => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      ...(replicas > 0 && { replicas }),
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: {
          labels: { app: 'web' },
          annotations: {
            'simulation.pilothouse.dev/cpu': cpu,
            'simulation.pilothouse.dev/memory': '64Mi',
          },
        },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'app', image: 'web:1', resources: { requests: { cpu: '500m' } } }],
        },
      },
    },
  });
  const hpaState = async (): Promise<string> =>
    kube.ok(
      'get',
      'hpa',
      'web',
      '-o=jsonpath={.status.currentReplicas} {.status.desiredReplicas} {.status.conditions[*].reason}',
    );

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'pilothouse-metrics-'));
    cluster = await up(
      ...['--data', data, '--topology', 'external', '--control-planes', '2', '--etcd-members', '1'],
      ...['--workers', '1', '--network', String(NETWORK)],
    );
    const kubeconfig = readFileSync(join(data, 'kubeconfig/admin.conf'), 'utf8');
    const [newest, oldest] = await Promise.all(MINORS.map((minor) => kubernetesClient(minor, kubeconfig)));
    kube = newest!;
    old = oldest!;
  });

  afterAll(async () => {
    await extension?.close();
    await Promise.all([kube?.close(), old?.close()]);
    await cluster?.end('SIGTERM');
    rmSync(data, { recursive: true, force: true });
  });

  test('every group version has an APIService, and that of the metrics server is available', async () => {
    await until('the metrics API', async () =>
      (await kube.ok('get', 'apiservices', 'v1beta1.metrics.k8s.io')).includes('True'),
    );
    const rows = rowsOf(await kube.ok('get', 'apiservices'));
    expect(rows).toEqual(
      expect.arrayContaining([
        ['NAME', 'SERVICE', 'AVAILABLE'],
        ['v1.', 'Local', 'True'],
        ['v1.apps', 'Local', 'True'],
        ['v2.autoscaling', 'Local', 'True'],
        ['v1beta1.metrics.k8s.io', 'kube-system/metrics-server', 'True'],
      ]),
    );
    expect(rows.filter(([, , available]) => available !== 'True')).toEqual([
      ['NAME', 'SERVICE', 'AVAILABLE'],
    ]);
  });

  test('top shows what kubelets measure, to old and new clients', async () => {
    await apply(deployment('250m', 2));
    await kube.ok('rollout', 'status', 'deployment/web', '--timeout=200s');
    for (const client of [kube, old]) {
      const pods = await until('metrics of both pods', async () => {
        const found = rowsOf(await client.ok('top', 'pods', '-l', 'app=web'));
        if (found.length !== 3) throw new Error(JSON.stringify(found));
        return found;
      });
      // What a container uses varies by a tenth.
      const row = [
        expect.any(String),
        expect.stringMatching(/^2\d\dm$/),
        expect.stringMatching(/^[567]\dMi$/),
      ];
      expect(pods).toEqual([['NAME', 'CPU(cores)', 'MEMORY(bytes)'], row, row]);
      const nodes = rowsOf(await client.ok('top', 'nodes'));
      expect([nodes.length, nodes[0]]).toEqual([
        4,
        [
          'NAME',
          'CPU(cores)',
          expect.stringMatching(/^CPU.*%/),
          'MEMORY(bytes)',
          expect.stringMatching(/^MEMORY.*%/),
        ],
      ]);
    }
    const containers = rowsOf(await kube.ok('top', 'pods', '--containers', '--sort-by=cpu', '-A'));
    expect(containers[0]).toEqual(['NAMESPACE', 'POD', 'NAME', 'CPU(cores)', 'MEMORY(bytes)']);
    expect(containers.filter(([, , name]) => name === 'app')).toHaveLength(2);
    expect(await kube.refusal('top', 'pod', 'nobody')).toContain('NotFound');
  });

  test('an extension server is discovered, asked as the user, watched, reported when it fails, and withdrawn', async () => {
    const address = `127.${NETWORK}.0.200`;
    extension = await startExtensionServer(data, address);
    const service = { namespace: 'ext', name: 'wardle' };
    await apply({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ext' } },
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: service,
          spec: { ports: [{ name: 'https', port: 443 }] },
        },
        {
          apiVersion: 'discovery.k8s.io/v1',
          kind: 'EndpointSlice',
          metadata: { ...service, labels: { 'kubernetes.io/service-name': 'wardle' } },
          addressType: 'IPv4',
          ports: [{ name: 'https', port: extension.port }],
          endpoints: [{ addresses: [address] }],
        },
        {
          apiVersion: 'apiregistration.k8s.io/v1',
          kind: 'APIService',
          metadata: { name: `v1alpha1.${GROUP}` },
          spec: {
            group: GROUP,
            version: 'v1alpha1',
            groupPriorityMinimum: 1000,
            versionPriority: 15,
            caBundle: extension.caBundle,
            service,
          },
        },
      ],
    });
    await kube.ok('wait', '--for=condition=Available', `apiservice/v1alpha1.${GROUP}`, '--timeout=100s');
    await until('the resource on both servers', async () => {
      for (const server of [1, 2]) {
        const { stdout } = await raw(server, '/apis');
        if (!stdout.includes(GROUP)) throw new Error(`server ${server} does not list the group`);
      }
      return (await kube.ok('api-resources', `--api-group=${GROUP}`)).includes('flunders');
    });
    expect(
      await kube.ok('get', 'fl', '-n', 'ext', '-o', 'name', '--as=jane', '--as-group=kubeadm:cluster-admins'),
    ).toBe(`flunder.${GROUP}/one\n`);
    expect(await kube.refusal('get', 'fl', '-n', 'ext', '--as=mallory')).toContain(
      `User "mallory" cannot list resource "flunders" in API group "${GROUP}"`,
    );
    expect(extension.asked.filter(({ user }) => user === 'mallory')).toEqual([]);
    expect(extension.asked).toContainEqual({ url: `${ROOT}/namespaces/ext/flunders`, user: 'jane' });

    const watch = kube.start('get', 'fl', '-n', 'ext', '-o', 'name', '--watch-only');
    try {
      await until('the event of the watch', async () => {
        extension!.tell('ADDED', 'two');
        return (await watch.until((text) => text.includes('/two') || text === '')).includes('/two');
      });
    } finally {
      await watch.stop();
    }

    await extension.close();
    extension = undefined;
    await kube.ok(
      'wait',
      '--for=condition=Available=False',
      `apiservice/v1alpha1.${GROUP}`,
      '--timeout=200s',
    );
    const message = await kube.ok(
      'get',
      'apiservice',
      `v1alpha1.${GROUP}`,
      '-o=jsonpath={.status.conditions[0].reason} {.status.conditions[0].message}',
    );
    expect(message).toMatch(
      /^FailedDiscoveryCheck failing or missing response from https:\/\/127\.236\.0\.200:\d+\/apis\/wardle\.example\.com\/v1alpha1: Get ".*": dial tcp .*: connect: connection refused$/,
    );
    await until('both servers to refuse', async () => {
      for (const server of [1, 2]) {
        const { stderr } = await raw(server, `${ROOT}/namespaces/ext/flunders`);
        if (!stderr.includes('service unavailable') && !stderr.includes('currently unable'))
          throw new Error(stderr);
      }
      return true;
    });
    await kube.ok('delete', 'apiservice', `v1alpha1.${GROUP}`);
    await until('the group to be gone', async () => {
      const found = await Promise.all([1, 2].map((server) => raw(server, '/apis')));
      return found.every(({ stdout }) => !stdout.includes(GROUP));
    });
  });

  test('custom objects count against a quota, go with their owner, and go with their namespace', async () => {
    await apply(SHOP_MANIFEST);
    for (const crd of ['orders', 'parts'])
      await kube.ok('wait', '--for=condition=Established', `crd/${crd}.shop.example.com`, '--timeout=100s');
    // Usage is charged when the quota is known to be followed.
    const used = () => kube.ok('get', 'quota', 'orders', '-n', SHOP, '-o=jsonpath={.status.used}');
    await until('the quota to be counted', async () => (await used()).includes('"0"'));
    await apply(custom('Order', 'one'));
    await apply(custom('Order', 'two'));
    const third = await kube.kubectl(['create', '-f', '-'], {
      input: JSON.stringify(custom('Order', 'three')),
    });
    expect(third.stderr).toContain(
      'orders.shop.example.com "three" is forbidden: exceeded quota: orders, requested: count/orders.shop.example.com=1, used: count/orders.shop.example.com=2, limited: count/orders.shop.example.com=2',
    );

    const owner = {
      name: 'one',
      uid: await kube.ok('get', 'order', 'one', '-n', SHOP, '-o=jsonpath={.metadata.uid}'),
    };
    await apply(custom('Part', 'of-one', owner));
    await apply(custom('Part', 'of-nobody'));
    await kube.ok('delete', 'order', 'one', '-n', SHOP);
    await until('the part to be collected', async () => {
      const left = await kube.ok('get', 'parts', '-n', SHOP, '-o', 'name');
      if (left !== 'part.shop.example.com/of-nobody\n') throw new Error(left);
      return true;
    });
    await until('the usage to be counted again', async () => (await used()).includes('"1"'));
  });

  test('a webhook in a pod behind a Service is called, and its loss denies', async () => {
    await apply(WEBHOOK_POD);
    await kube.ok('wait', '--for=condition=Ready', 'pod/webhook', '-n', SHOP, '--timeout=100s');
    const podIP = await kube.ok('get', 'pod', 'webhook', '-n', SHOP, '-o=jsonpath={.status.podIP}');
    const variables = await kube.ok('exec', 'webhook', '-n', SHOP, '--', 'env');
    expect(variables).toMatch(/^KUBERNETES_PORT_443_TCP_PROTO=tcp$/m);
    const webhook = await startPodWebhook(podIP);
    try {
      await apply(podWebhookConfiguration(webhook));
      const create = (name: string) =>
        kube.kubectl(['create', '-f', '-'], { input: JSON.stringify(custom('Part', name)) });
      await until('the webhook to be called', async () => {
        const { stderr } = await create('bad');
        if (!stderr.includes('bad names are not welcome')) throw new Error(stderr);
        return true;
      });
      await create('good');
      expect(await kube.ok('get', 'part', 'good', '-n', SHOP, '-o=jsonpath={.metadata.labels.hooked}')).toBe(
        'yes',
      );
      await kube.ok('delete', 'pod', 'webhook', '-n', SHOP, '--wait=false');
      await until('the Service to be without endpoints', async () => {
        const { stderr } = await kube.kubectl(['create', '--dry-run=server', '-f', '-'], {
          input: JSON.stringify(custom('Part', 'late')),
        });
        if (!stderr.includes('no endpoints available for service "hook"')) throw new Error(stderr);
        return true;
      });
    } finally {
      await kube.ok('delete', 'mutatingwebhookconfiguration', 'pod-webhook', '--ignore-not-found');
      await webhook.close();
    }
    await kube.ok('delete', 'namespace', SHOP, '--timeout=200s');
    expect(await kube.ok('get', 'orders,parts', '-A', '-o', 'name')).toBe('');
    await kube.ok('delete', 'crd', 'orders.shop.example.com', 'parts.shop.example.com', '--timeout=100s');
  });

  test('an autoscaler follows the load up and down', async () => {
    await apply({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        minReplicas: 1,
        maxReplicas: 3,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 25 } },
          },
        ],
        behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
      },
    });
    await until('three replicas', async () => {
      const state = await hpaState();
      if (!state.startsWith('3 3')) throw new Error(state);
      return true;
    });
    expect(await kube.ok('describe', 'hpa', 'web')).toContain(
      'New size: 3; reason: cpu resource utilization (percentage of request) above target',
    );
    await apply(deployment('20m', 0));
    await until('one replica', async () => {
      const state = await hpaState();
      if (!state.startsWith('1 1')) throw new Error(state);
      return true;
    });
    expect(rowsOf(await kube.ok('get', 'hpa', 'web'))[1]?.slice(0, 6)).toEqual([
      'web',
      'Deployment/web',
      expect.stringMatching(/^cpu: [34]%\/25%$/),
      '1',
      '3',
      '1',
    ]);
    expect(
      await kube.ok(
        'get',
        'horizontalpodautoscalers.v1.autoscaling',
        'web',
        '-o=jsonpath={.spec.targetCPUUtilizationPercentage}',
      ),
    ).toBe('25');
  });
});
