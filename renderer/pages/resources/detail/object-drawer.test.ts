// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from 'vitest';
import { defineComponent, h } from 'vue';
import {
  type ClusterList,
  ContractError,
  type KubeResource,
  type ObjectItem,
  verbatim,
} from '../../../../core/contract/index.ts';
import { REVEALED_MS } from '../../../composables/useReveal.ts';
import { click, feed, fill, mount, settle, testConnection, type Mounted } from '../../../testing/mount.ts';
import ObjectDrawer from './ObjectDrawer.vue';

const drawerWith = (props: InstanceType<typeof ObjectDrawer>['$props']) =>
  defineComponent({ setup: () => () => h(ObjectDrawer, props) });

let mounted: Mounted | undefined;
afterEach(() => {
  mounted?.unmount();
  mounted = undefined;
  vi.useRealTimers();
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

test('a revealed value is hidden again after its time, each key by its own', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const secret = {
    kind: 'Secret',
    metadata: { name: 'login', namespace: 'default', uid: 's' },
    data: { password: btoa('hunter2'), user: btoa('anna') },
  };
  const connection = testConnection({
    'clusters.watch': feed<ClusterList>({ clusters: [], problems: [] }).handler,
    'kube.object': (_input, signal) =>
      feed<ObjectItem>({ kind: 'object', object: secret }).handler(undefined, signal),
  });
  const props = {
    cluster: '/k#prod',
    resource: {
      group: '',
      version: 'v1',
      plural: 'secrets',
      kind: 'Secret',
      namespaced: true,
      subresources: [] as readonly string[],
    } as KubeResource,
    namespace: 'default',
    name: 'login',
    tab: 'summary',
    isWide: false,
  };
  mounted = await mount(drawerWith(props), connection);
  const { root } = mounted;
  const shown = (): string[] => ['hunter2', 'anna'].filter((value) => root.textContent?.includes(value));
  const pass = async (ms: number): Promise<string[]> => {
    vi.advanceTimersByTime(ms);
    await settle();
    return shown();
  };
  await click(root, 'Reveal password');
  expect(await pass(REVEALED_MS / 2)).toEqual(['hunter2']);
  await click(root, 'Reveal user');
  expect(await pass(REVEALED_MS / 2 - 1)).toEqual(['hunter2', 'anna']);
  expect(await pass(1)).toEqual(['anna']);
  expect(await pass(REVEALED_MS / 2)).toEqual([]);
});
