import { afterEach, expect, test } from 'vitest';
import { defineComponent, h } from 'vue';
import {
  type ClusterList,
  ContractError,
  type KubeResource,
  type ObjectItem,
  verbatim,
} from '../../../../core/contract/index.ts';
import { click, feed, fill, mount, settle, testConnection, type Mounted } from '../../../testing/mount.ts';
import ObjectDrawer from './ObjectDrawer.vue';

const drawerWith = (props: InstanceType<typeof ObjectDrawer>['$props']) =>
  defineComponent({ setup: () => () => h(ObjectDrawer, props) });

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
  mounted = await mount(drawerWith(props), connection);
  await click(mounted.root, 'Delete');
  expect(document.querySelector('[role=dialog]')).toBeNull();

  source.push({ kind: 'object', object: { kind: 'Namespace', metadata: { name: 'harbour', uid: 'h' } } });
  await settle();
  await click(mounted.root, 'Delete');
  expect(document.querySelector('[role=dialog]')?.textContent).toContain('Delete Namespace harbour');
});

test('a watch that is refused later says so, and leaves what is typed in a form', async () => {
  let refuse: (error: Error) => void = () => undefined;
  const pod = { kind: 'Pod', metadata: { name: 'web', uid: 'w' }, status: { phase: 'Running' } };
  const connection = testConnection({
    'clusters.watch': feed<ClusterList>({ clusters: [], problems: [] }).handler,
    'forwards.watch': feed<never[]>([]).handler,
    'kube.object': async function* () {
      yield [{ kind: 'object', object: pod }];
      await new Promise((_resolve, reject) => (refuse = reject));
    },
  });
  const props = {
    cluster: '/k#prod',
    resource: {
      group: '',
      version: 'v1',
      plural: 'pods',
      kind: 'Pod',
      namespaced: true,
      subresources: [] as readonly string[],
    } as KubeResource,
    namespace: 'default',
    name: 'web',
    tab: 'ports',
    isWide: false,
  };
  mounted = await mount(drawerWith(props), connection);
  const field = mounted.root.querySelector('input')!;
  await fill(field, '8080');
  refuse(new ContractError('Forbidden', verbatim('the client certificate expired')));
  await settle();
  expect(mounted.root.textContent).toContain('the client certificate expired');
  expect([mounted.root.contains(field), field.value]).toEqual([true, '8080']);
});
