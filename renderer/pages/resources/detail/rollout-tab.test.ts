// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest';
import { defineComponent, h } from 'vue';
import type { ApiRequest, ClusterList, KubeResource } from '../../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../../stores/clusters.ts';
import { click, feed, mount, settle, testConnection, type Mounted } from '../../../testing/mount.ts';
import RolloutTab from './RolloutTab.vue';

const cluster = {
  id: '/k#prod',
  name: 'prod',
  origin: 'kubeconfig' as const,
  server: 'https://prod:6443',
  user: 'admin',
  namespace: 'default',
  kubeconfigPath: '/k',
  readOnly: false,
  local: null,
};
const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image }] },
});
const object = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', uid: 'd', generation: 2, resourceVersion: '7' },
  spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: template('web:2') },
  status: { observedGeneration: 2, replicas: 3, updatedReplicas: 1, availableReplicas: 2 },
};
const replicaSet = (revision: number) => ({
  metadata: {
    name: `web-${revision}`,
    annotations: { 'deployment.kubernetes.io/revision': String(revision) },
    ownerReferences: [{ uid: 'd', controller: true }],
  },
  spec: { template: template(`web:${revision}`) },
  status: { replicas: 1 },
});

let mounted: Mounted | undefined;
afterEach(() => {
  mounted?.unmount();
  mounted = undefined;
  localStorage.clear();
});

const show = async (readOnlyWhy?: string) => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, cluster.id);
  const asked: ApiRequest[] = [];
  const connection = testConnection({
    'clusters.watch': feed<ClusterList>({ clusters: [cluster], problems: [] }).handler,
    'kube.request': (request) => {
      asked.push(request);
      const body = request.method === 'GET' ? { items: [replicaSet(1), replicaSet(2)] } : {};
      return Promise.resolve({ ok: true, body });
    },
  });
  const props = {
    cluster: cluster.id,
    target: {
      resource: {
        group: 'apps',
        version: 'v1',
        plural: 'deployments',
        kind: 'Deployment',
        namespaced: true,
      } as KubeResource,
      namespace: 'shop',
      name: 'web',
    },
    object,
    nowMs: 0,
    readOnlyWhy,
  };
  mounted = await mount(defineComponent({ setup: () => () => h(RolloutTab, props) }), connection);
  await settle();
  return { asked, root: mounted.root, text: () => mounted!.root.textContent ?? '' };
};

test('the rollout says how far it is, and which revision is current', async () => {
  const { asked, text } = await show();
  expect(asked[0]).toMatchObject({
    path: '/apis/apps/v1/namespaces/shop/replicasets',
    query: { labelSelector: 'app=web' },
  });
  expect(text()).toContain('1 of 2 pods updated, 2 available. 2 old pods remaining.');
  expect(text()).toMatch(/Revision 2current/);
});

test('the way back is taken only after its consequences were shown', async () => {
  const { asked, root } = await show();
  await click(root, 'Roll back to revision 1');
  expect(asked.filter(({ method }) => method === 'PATCH')).toEqual([]);
  const dialog = document.querySelector('[role="dialog"]')!;
  expect(dialog.textContent).toContain('2 pods are replaced');
  expect(dialog.textContent).toContain('rollout undo deployments.apps/web --to-revision=1');
  await click(dialog, 'Roll back to revision 1');
  expect(asked.at(-1)).toMatchObject({
    method: 'PATCH',
    contentType: 'application/json-patch+json',
    path: '/apis/apps/v1/namespaces/shop/deployments/web',
  });
});

test('a read-only cluster keeps the buttons and says why they do nothing', async () => {
  const { asked, root } = await show('This cluster is read-only');
  await click(root, 'Roll back to revision 1');
  expect(document.querySelector('[role="dialog"]')).toBeNull();
  expect(asked.every(({ method }) => method === 'GET')).toBe(true);
});
