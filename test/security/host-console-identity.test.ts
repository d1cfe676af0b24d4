import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { isForbidden } from '../../core/api/meta/status.ts';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import {
  CONFIG_MAP,
  connect,
  DEPLOYMENT,
  LEASE,
  loadKubeconfig,
  NODE,
  POD,
  SECRET,
  SERVICE_ACCOUNT,
  type OwnedClient,
} from '../../core/client/index.ts';
import { targetsOf } from '../../core/cluster/monitor/scrape/targets.ts';
import { openClusterAccess } from '../../core/cluster/monitor/scrape/cluster-access.ts';
import { etcdAccessOf } from '../../core/cluster/etcd-operator/operations.ts';
import { requireCluster } from '../../core/cluster/data-folder/open.ts';

/** What the console does on its own is done with this file; anyone who steals it can look, and nothing more. */
const data = inject('attackedData');
/** A sampler gives up sooner; other attacks run beside this one. */
const ANSWER_MS_MAX = 60_000;
const kubeconfigFile = join(data, 'kubeconfig', 'console.conf');
let client: OwnedClient;

beforeAll(async () => {
  client = connect(await loadKubeconfig(kubeconfigFile), {
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    userAgent: 'test',
  });
});
afterAll(() => client.dispose());

const isDenied = (request: Promise<unknown>): Promise<boolean> =>
  request.then(
    () => false,
    (error: unknown) => {
      if (isForbidden(error)) return true;
      throw error;
    },
  );

test('the console reads objects and leases, and no Secret', async () => {
  expect([
    await isDenied(client.resource(NODE).list()),
    await isDenied(client.resource(POD).list({ limit: 1 })),
    await isDenied(client.resource(LEASE, 'kube-system').list({ limit: 1 })),
    await isDenied(client.resource(SECRET).list({ limit: 1 })),
    await isDenied(client.resource(SECRET, 'kube-system').get('x')),
  ]).toEqual([false, false, false, true, true]);
});

test('the console writes nothing, mints no token, runs nothing and is no one else', async () => {
  const configMap = { metadata: { name: 'x' } };
  expect(
    await Promise.all([
      isDenied(client.resource(CONFIG_MAP, 'default').create(configMap)),
      isDenied(client.resource(NODE).patch('cp-1', { type: 'merge', body: {} })),
      isDenied(client.resource(NODE).delete('cp-1')),
      isDenied(client.resource(DEPLOYMENT, 'default').delete('x')),
      isDenied(client.resource(POD, 'default').createSubresource('x', 'eviction', {})),
      isDenied(client.resource(SERVICE_ACCOUNT, 'default').createSubresource('default', 'token', {})),
      isDenied(client.json({ method: 'POST', path: '/api/v1/namespaces/default/pods/x/exec' })),
      isDenied(client.json({ method: 'GET', path: '/api/v1/nodes/cp-1/proxy/pods' })),
      isDenied(client.as({ user: 'kubernetes-admin' }).resource(NODE).list()),
    ]),
  ).toEqual(Array.from({ length: 9 }, () => true));
});

test('it may read the metrics of every component', async () => {
  const config = await requireCluster(data);
  const access = openClusterAccess({
    directory: data,
    kubeconfigFile,
    etcdTls: () => etcdAccessOf(data, config).tls,
  });
  try {
    const statuses = await Promise.all(
      targetsOf(config).flatMap(({ urls, trust }) =>
        urls.map(async (url) => (await access.ask({ url, trust, timeoutMs: ANSWER_MS_MAX })).status),
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
  } finally {
    access.dispose();
  }
});
