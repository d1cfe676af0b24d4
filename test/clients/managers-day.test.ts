import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveKubernetesTools } from '../../resources/setup/kubectl.mjs';
import { kubernetesClient, type KubernetesClient } from '../support/kubectl.ts';
import { startManagedCluster, type ManagedCluster } from '../support/managed-cluster.ts';
import { until } from '../support/until.ts';

const MINOR = 36;
const WAIT = '--timeout=200s';

const tools = await resolveKubernetesTools(MINOR, { log: (line) => console.log(line) });

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
    readonly spec: { readonly nodeName?: string };
  }[];
}

describe.skipIf('missing' in tools)('a day with kubectl', () => {
  let cluster: ManagedCluster;
  let kube: KubernetesClient;

  const apply = async (manifest: unknown, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await kube.kubectl(['apply', '-f', '-', ...args], {
      input: JSON.stringify(manifest),
    });
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  const podsOf = async (selector: string): Promise<PodList['items']> =>
    (await kube.json<PodList>('get', 'pods', '-l', selector)).items;
  const rolledOut = (what: string): Promise<string> => kube.ok('rollout', 'status', what, WAIT);
  const gone = (...what: string[]): Promise<boolean> =>
    until(`the end of ${what.join(' ')}`, async () => (await kube.ok('get', ...what, '-o', 'name')) === '');

  beforeAll(async () => {
    cluster = await startManagedCluster({ octet: 113, nodes: 2 });
    cluster.managers.start({ name: 'kube-scheduler' });
    cluster.managers.start({ name: 'kube-controller-manager' });
    kube = (await kubernetesClient(MINOR, cluster.managers.plane.kubeconfig('super-admin')))!;
    await until('the account of the namespace', async () => {
      const { code } = await kube.kubectl(['get', 'serviceaccount', 'default']);
      return code === 0;
    });
  });

  afterAll(async () => {
    await kube?.close();
    await cluster?.close();
  });

  test('a deployment is created, exposed and scaled', async () => {
    await kube.ok('create', 'deployment', 'web', '--image=web:1', '--replicas=3', '--port=8080');
    expect(await rolledOut('deployment/web')).toContain('deployment "web" successfully rolled out');
    await kube.ok('expose', 'deployment', 'web', '--port=80', '--target-port=8080');
    await kube.ok('scale', 'deployment/web', '--replicas=5');
    await rolledOut('deployment/web');
    await until('five endpoints', async () => {
      const path = '-o=jsonpath={.items[*].endpoints[*].addresses[0]}';
      const text = await kube.ok('get', 'endpointslices', '-l', 'kubernetes.io/service-name=web', path);
      return text.trim().split(/\s+/).length === 5;
    });
  });

  test('a bad image stops a rollout before it takes the service down, and is undone', async () => {
    await kube.ok('set', 'image', 'deployment/web', 'web=web:missing');
    expect(await kube.refusal('rollout', 'status', 'deployment/web', '--timeout=4s')).toContain('timed out');
    const path = '-o=jsonpath={.status.availableReplicas}';
    expect(Number(await kube.ok('get', 'deployment', 'web', path))).toBeGreaterThanOrEqual(4);
    await until('the image that cannot be pulled', async () =>
      /ErrImagePull|ImagePullBackOff/.test(await kube.ok('get', 'pods', '-l', 'app=web')),
    );
    expect(await kube.ok('rollout', 'undo', 'deployment/web')).toContain('rolled back');
    await rolledOut('deployment/web');
    const image = '-o=jsonpath={.spec.template.spec.containers[0].image}';
    expect(await kube.ok('get', 'deployment', 'web', image)).toBe('web:1');
    expect(await kube.ok('rollout', 'history', 'deployment/web')).toMatch(/^2 .*\n3 /m);
  });

  test('an unschedulable pod says why', async () => {
    await apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'huge' },
      spec: { containers: [{ name: 'c', image: 'c:1', resources: { requests: { cpu: '1000' } } }] },
    });
    const text = await until('the event', async () => {
      const described = await kube.ok('describe', 'pod', 'huge');
      return described.includes('FailedScheduling') && described;
    });
    expect(text).toContain('0/2 nodes are available: 2 Insufficient cpu.');
    await kube.ok('delete', 'pod', 'huge', '--wait=false');
  });

  test('deletes cascade in the background, in the foreground, or not at all', async () => {
    for (const cascade of ['background', 'foreground', 'orphan'] as const) {
      await kube.ok('create', 'deployment', cascade, '--image=web:1', '--replicas=2');
      await rolledOut(`deployment/${cascade}`);
      await kube.ok('delete', 'deployment', cascade, `--cascade=${cascade}`, WAIT);
      if (cascade === 'orphan') continue;
      await gone('replicasets', '-l', `app=${cascade}`);
      await gone('pods', '-l', `app=${cascade}`);
    }
    expect((await podsOf('app=orphan')).length).toBe(2);
    const owners = '-o=jsonpath={.items[0].metadata.ownerReferences}';
    expect(await kube.ok('get', 'replicasets', '-l', 'app=orphan', owners)).toBe('');
    await kube.ok('delete', 'replicasets', '-l', 'app=orphan', WAIT);
    await gone('pods', '-l', 'app=orphan');
  });

  test('a node is cordoned and drained as far as a budget allows', async () => {
    await kube.ok('create', 'poddisruptionbudget', 'web', '--selector=app=web', '--min-available=5');
    await until('the budget', async () => {
      const path = '-o=jsonpath={.status.currentHealthy}';
      return (await kube.ok('get', 'poddisruptionbudget', 'web', path)) === '5';
    });
    const drain = ['drain', 'n1', '--ignore-daemonsets', '--delete-emptydir-data', '--force'];
    // A busy machine may spend all of this time before it has asked once.
    await until('the refusal to evict', async () =>
      (await kube.refusal(...drain, '--timeout=3s')).includes(
        "Cannot evict pod as it would violate the pod's disruption budget.",
      ),
    );
    await kube.ok('patch', 'poddisruptionbudget', 'web', '-p', '{"spec":{"minAvailable":4}}');
    expect(await kube.ok(...drain, WAIT)).toContain('node/n1 drained');
    expect(await kube.ok('get', 'nodes')).toMatch(/^n1 +Ready,SchedulingDisabled/m);
    await rolledOut('deployment/web');
    const live = (await podsOf('app=web')).filter(({ metadata }) => !metadata.deletionTimestamp);
    expect(live.map(({ spec }) => spec.nodeName)).toEqual(['n2', 'n2', 'n2', 'n2', 'n2']);
    await kube.ok('uncordon', 'n1');
  });

  test('a quota refuses what is too much and says how much there is', async () => {
    await kube.ok('create', 'namespace', 'small');
    await kube.ok('create', 'quota', 'few', '--hard=pods=2', '-n', 'small');
    await until('the quota', async () => {
      const path = '-o=jsonpath={.status.hard.pods}';
      return (await kube.ok('get', 'quota', 'few', '-n', 'small', path)) === '2';
    });
    for (const name of ['a', 'b']) await kube.ok('run', name, '--image=web:1', '-n', 'small');
    expect(await kube.refusal('run', 'c', '--image=web:1', '-n', 'small')).toContain(
      'exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2',
    );
    await kube.ok('delete', 'pod', 'a', '-n', 'small', WAIT);
    await until('room', async () => {
      const { code } = await kube.kubectl(['run', 'c', '--image=web:1', '-n', 'small']);
      return code === 0;
    });
  });

  test('a stateful set goes down and comes up with its claims', async () => {
    const volumes = [0, 1].map((n) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `disk-${n}` },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'manual',
        hostPath: { path: `/data/${n}` },
      },
    }));
    const labels = { app: 'db' };
    await apply({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        ...volumes,
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'db' },
          spec: { clusterIP: 'None', selector: labels, ports: [{ port: 5432 }] },
        },
        {
          apiVersion: 'apps/v1',
          kind: 'StatefulSet',
          metadata: { name: 'db' },
          spec: {
            serviceName: 'db',
            replicas: 2,
            selector: { matchLabels: labels },
            template: {
              metadata: { labels },
              spec: {
                containers: [
                  { name: 'db', image: 'db:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] },
                ],
              },
            },
            volumeClaimTemplates: [
              {
                metadata: { name: 'data' },
                spec: {
                  accessModes: ['ReadWriteOnce'],
                  storageClassName: 'manual',
                  resources: { requests: { storage: '1Gi' } },
                },
              },
            ],
          },
        },
      ],
    });
    await rolledOut('statefulset/db');
    const claims = '-o=jsonpath={range .items[*]}{.metadata.name}={.spec.volumeName} {end}';
    const before = await kube.ok('get', 'pvc', claims);
    expect(before.trim().split(' ').length).toBe(2);
    await kube.ok('scale', 'statefulset/db', '--replicas=0');
    await gone('pods', '-l', 'app=db');
    await kube.ok('scale', 'statefulset/db', '--replicas=2');
    await rolledOut('statefulset/db');
    expect((await podsOf('app=db')).map(({ metadata }) => metadata.name).sort()).toEqual(['db-0', 'db-1']);
    expect(await kube.ok('get', 'pvc', claims)).toBe(before);
  });

  test('a namespace goes with everything in it', async () => {
    const inside = ['-n', 'full'];
    await kube.ok('create', 'namespace', 'full');
    await kube.ok('create', 'deployment', 'd', '--image=web:1', '--replicas=2', ...inside);
    await kube.ok('expose', 'deployment', 'd', '--port=80', ...inside);
    await kube.ok('create', 'configmap', 'c', '--from-literal=a=b', ...inside);
    await kube.ok('create', 'secret', 'generic', 's', '--from-literal=a=b', ...inside);
    await kube.ok('create', 'job', 'j', '--image=task:1', ...inside);
    await kube.ok('create', 'cronjob', 'cj', '--image=task:1', '--schedule=0 0 1 1 *', ...inside);
    await kube.ok('create', 'role', 'r', '--verb=get', '--resource=pods', ...inside);
    await kube.ok('create', 'poddisruptionbudget', 'p', '--selector=app=d', '--min-available=1', ...inside);
    await kube.ok('rollout', 'status', 'deployment/d', WAIT, ...inside);
    await kube.ok('delete', 'namespace', 'full', WAIT);
    expect(await kube.refusal('get', 'namespace', 'full')).toContain('not found');
    expect(await kube.ok('get', 'all,configmaps,secrets', ...inside, '-o', 'name')).toBe('');
  });
});
