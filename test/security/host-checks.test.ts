import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import { CLUSTER_ROLE_BINDING, connect, loadKubeconfig, type OwnedClient } from '../../core/client/index.ts';
import { requireCluster } from '../../core/cluster/data-folder/open.ts';
import type { CheckItem } from '../../core/cluster/checks/item.ts';
import { anonymousPaths } from '../../core/cluster/checks/items/anonymous-paths.ts';
import { controlSocket } from '../../core/cluster/checks/items/control-socket.ts';
import { fileModes } from '../../core/cluster/checks/items/file-modes.ts';
import { kubeletAccess } from '../../core/cluster/checks/items/kubelet-access.ts';
import { nodeIdentity } from '../../core/cluster/checks/items/node-identity.ts';
import { tlsSuites } from '../../core/cluster/checks/items/tls-suites.ts';
import { openLook, type Look } from '../../core/cluster/checks/look.ts';
import { inEnglish } from '../../core/contract/index.ts';

const data = inject('attackedData');
let look: Look;
let admin: OwnedClient;

beforeAll(async () => {
  look = await openLook(data, { config: await requireCluster(data), clock: systemClock, log: silentLog });
  admin = connect(await loadKubeconfig(join(data, 'kubeconfig', 'super-admin.conf')), {
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    userAgent: 'test',
  });
});
afterAll(() => {
  look.dispose();
  admin.dispose();
});

const measure = async (item: CheckItem) => {
  const { verdict, message } = await item.measure(look);
  return { verdict, message: inEnglish(message) };
};

test.each([tlsSuites, nodeIdentity, kubeletAccess, fileModes, controlSocket, anonymousPaths])(
  'a default cluster passes: $id',
  async (item) => {
    expect(await measure(item)).toMatchObject({ verdict: 'ok' });
  },
);

test('a binding of system:node to a group is found', async () => {
  const name = 'host-checks-shared-identity';
  await admin.resource(CLUSTER_ROLE_BINDING).create({
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'nobody-is-in-it' }],
  });
  try {
    expect(await measure(nodeIdentity)).toMatchObject({
      verdict: 'problem',
      message: `ClusterRoleBinding ${name} grants system:node to Group nobody-is-in-it`,
    });
  } finally {
    await admin.resource(CLUSTER_ROLE_BINDING).delete(name);
  }
});

test.each<[string, string, CheckItem]>([
  ['a kubeconfig', 'kubeconfig/kube-proxy.conf', fileModes],
  ['the control socket', 'control.sock', controlSocket],
])('%s that others may read is found', async (_what, file, item) => {
  const path = join(data, file);
  const { mode } = statSync(path);
  chmodSync(path, 0o644);
  try {
    const { verdict, message } = await measure(item);
    expect([verdict, message]).toEqual(['problem', expect.stringContaining('has mode 644')]);
  } finally {
    chmodSync(path, mode & 0o777);
  }
});
