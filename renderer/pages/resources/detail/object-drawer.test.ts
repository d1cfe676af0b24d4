import { afterEach, expect, test } from 'vitest';
import { defineComponent, h } from 'vue';
import type { ClusterList, KubeResource, ObjectItem } from '../../../../core/contract/index.ts';
import { click, feed, mount, settle, testConnection, type Mounted } from '../../../testing/mount.ts';
import ObjectDrawer from './ObjectDrawer.vue';

let mounted: Mounted | undefined;
afterEach(() => {
  mounted?.unmount();
  mounted = undefined;
});

test('an object can be deleted once it was read: the request names the one that was looked at', async () => {
  const source = feed<ObjectItem>();
  const connection = testConnection({
    'clusters.watch': feed<ClusterList>({ clusters: [], problems: [] }).handler,
    'kube.object': (_input, signal) => source.handler(undefined, signal),
  });
  const props = {
    cluster: '/k#prod',
    resource: {
      group: '',
      version: 'v1',
      plural: 'namespaces',
      kind: 'Namespace',
      subresources: [] as readonly string[],
    } as KubeResource,
    namespace: '',
    name: 'harbour',
    tab: 'yaml',
    isWide: false,
  };
  mounted = await mount(defineComponent({ setup: () => () => h(ObjectDrawer, props) }), connection);
  await click(mounted.root, 'Delete');
  expect(document.querySelector('[role=dialog]')).toBeNull();

  source.push({ kind: 'object', object: { kind: 'Namespace', metadata: { name: 'harbour', uid: 'h' } } });
  await settle();
  await click(mounted.root, 'Delete');
  expect(document.querySelector('[role=dialog]')?.textContent).toContain('Delete Namespace harbour');
});
