// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineComponent, h } from 'vue';
import ClusterDialogs from '../../app/ClusterDialogs.vue';
import KubeconfigDialog from '../../app/KubeconfigDialog.vue';
import {
  type ClusterDefaults,
  type ClusterEntry,
  type ClusterList,
  ContractError,
  type Handlers,
  verbatim,
} from '../../../core/contract/index.ts';
import { useClusterStore } from '../../stores/clusters.ts';
import { useToastStore } from '../../stores/toasts.ts';
import {
  click,
  feed,
  fill,
  mount,
  settle,
  testConnection,
  type Mounted,
  type TestConnection,
} from '../../testing/mount.ts';
import ClustersPage from './ClustersPage.vue';

const entry = (name: string, more: Partial<ClusterEntry> = {}): ClusterEntry => ({
  id: name,
  name,
  origin: 'kubeconfig',
  server: `https://${name}.example:6443`,
  user: 'dev-reader',
  namespace: 'default',
  kubeconfigPath: '/home/ada/.kube/config',
  readOnly: true,
  local: null,
  ...more,
});
const listOf = (...clusters: ClusterEntry[]): ClusterList => ({ clusters, problems: [] });

let mounted: Mounted;
let connection: TestConnection;
let toasts: ReturnType<typeof useToastStore>;

const Page = defineComponent({
  setup() {
    toasts = useToastStore();
    return () => [h(ClustersPage), h(KubeconfigDialog), h(ClusterDialogs)];
  },
});
const show = async (handlers: Handlers, shell: 'desktop' | 'browser' = 'browser') => {
  connection = testConnection(handlers, shell);
  mounted = await mount(Page, connection);
};
const names = () =>
  [...mounted.root.querySelectorAll('tbody th button')].map((button) => button.textContent?.trim());
const dialog = () => document.querySelector<HTMLElement>('[role="dialog"]');

beforeEach(() => localStorage.clear());
afterEach(() => mounted.unmount());

test('without a cluster the page says what one is, the first step, and the same for a shell', async () => {
  await show({ 'clusters.watch': feed(listOf()).handler });
  expect(mounted.root.textContent).toContain('No cluster yet');
  expect(mounted.root.querySelector('code')?.textContent).toBe('kubectl config get-contexts');
});

test('until the list arrives the table says that rows are loading', async () => {
  await show({ 'clusters.watch': feed<ClusterList>().handler });
  expect(mounted.root.querySelector('table')?.getAttribute('aria-busy')).toBe('true');
  expect(mounted.root.textContent).toContain('Loading');
});

test('in a browser the path is typed; a refusal is shown and keeps what was typed', async () => {
  const asked: unknown[] = [];
  await show({
    'clusters.watch': feed(listOf()).handler,
    'clusters.openKubeconfig': (input) => {
      asked.push(input);
      return asked.length === 1
        ? Promise.reject(new ContractError('NotFound', verbatim('no such file')))
        : Promise.resolve(listOf(entry('staging')));
    },
  });
  await click(mounted.root, 'Open kubeconfig…');
  const input = dialog()!.querySelector('input')!;
  input.value = ' /tmp/kubeconfig ';
  input.dispatchEvent(new Event('input'));
  await settle();
  const form = dialog()!.querySelector('form')!;
  form.dispatchEvent(new Event('submit', { cancelable: true }));
  await settle();
  expect([dialog()?.querySelector('[role="alert"]')?.textContent, input.value]).toEqual([
    'no such file',
    ' /tmp/kubeconfig ',
  ]);
  form.dispatchEvent(new Event('submit', { cancelable: true }));
  await settle();
  expect(asked).toEqual([{ path: '/tmp/kubeconfig' }, { path: '/tmp/kubeconfig' }]);
  expect([names(), toasts.shown[0]?.title]).toEqual([['staging'], '1 context added']);
});

test('on the desktop the host asks with its own dialog, and a change of mind is no error', async () => {
  const asked: unknown[] = [];
  await show(
    {
      'clusters.watch': feed(listOf()).handler,
      'clusters.openKubeconfig': (input) => {
        asked.push(input);
        return Promise.reject(new ContractError('Cancelled', verbatim('the dialog was closed')));
      },
    },
    'desktop',
  );
  await click(mounted.root, 'Open kubeconfig…');
  expect([asked, dialog(), toasts.shown]).toEqual([[{}], null, []]);
});

test('forgetting names its consequences first, then can be taken back', async () => {
  const forgotten: unknown[] = [];
  await show({
    'clusters.watch': feed(listOf(entry('staging'), entry('prod'))).handler,
    'clusters.forget': (input) => {
      forgotten.push(input);
      return Promise.resolve(listOf(entry('prod')));
    },
  });
  await click(mounted.root, 'Remove staging');
  expect(dialog()?.textContent).toContain('The cluster at https://staging.example:6443 keeps running');
  expect(forgotten).toEqual([]);
  await click(dialog()!, 'Remove staging');
  expect([forgotten, names()]).toEqual([[{ id: 'staging' }], ['prod']]);
  expect(toasts.shown).toMatchObject([{ title: 'staging removed', action: { label: 'Undo' } }]);
});

test('a refused forgetting is reported in the dialog and leaves the row', async () => {
  await show({
    'clusters.watch': feed(listOf(entry('staging'))).handler,
    'clusters.forget': () => Promise.reject(new ContractError('Conflict', verbatim('changed elsewhere'))),
  });
  await click(mounted.root, 'Remove staging');
  await click(dialog()!, 'Remove staging');
  expect([dialog()?.querySelector('[role="alert"]')?.textContent, names()]).toEqual([
    'changed elsewhere',
    ['staging'],
  ]);
});

const own = (phase: NonNullable<ClusterEntry['local']>['phase']): ClusterEntry =>
  entry('harbor', {
    origin: 'local',
    readOnly: false,
    local: { directory: '/data/harbor', phase, kubernetesVersion: 'v1.36.0' },
  });

test('a console that hosts one cluster and has none chosen looks at it; of several none is chosen', async () => {
  const chosen = async (...clusters: ClusterEntry[]) => {
    localStorage.clear();
    await show({ 'clusters.watch': feed(listOf(...clusters)).handler });
    const { current } = useClusterStore();
    return current?.name;
  };
  expect(await chosen(own('ready'))).toBe('harbor');
  mounted.unmount();
  expect(await chosen(own('ready'), entry('staging'))).toBeUndefined();
  mounted.unmount();
  expect(await chosen(entry('staging'))).toBeUndefined();
});

test('a cluster of its own shows phase, version and folder, and is stopped, not forgotten', async () => {
  const asked: string[] = [];
  await show({
    'clusters.watch': feed(listOf(own('ready'))).handler,
    'clusters.stop': ({ cluster }) => {
      asked.push(cluster);
      return Promise.resolve(undefined);
    },
  });
  const row = mounted.root.querySelector('tbody tr')?.textContent ?? '';
  expect(['Ready', 'v1.36.0', '/data/harbor', 'Remove'].map((word) => row.includes(word))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  await click(mounted.root, 'Stop harbor');
  expect(dialog()?.textContent).toContain('All data is kept in /data/harbor');
  await click(dialog()!, 'Stop harbor');
  expect([asked, dialog()]).toEqual([['harbor'], null]);
});

test('one that rests is started without a question', async () => {
  const asked: string[] = [];
  await show({
    'clusters.watch': feed(listOf(own('stopped'))).handler,
    'clusters.start': ({ cluster }) => {
      asked.push(cluster);
      return Promise.resolve(undefined);
    },
  });
  await click(mounted.root, 'Start harbor');
  expect(asked).toEqual(['harbor']);
});

test('deleting wants the name typed, and says what goes with it', async () => {
  let deletes = 0;
  await show({
    'clusters.watch': feed(listOf(own('stopped'))).handler,
    'clusters.delete': () => {
      deletes += 1;
      return Promise.resolve(listOf());
    },
  });
  await click(mounted.root, 'Delete harbor');
  expect(dialog()?.textContent).toContain('all objects, certificates and keys');
  await click(dialog()!, 'Delete harbor');
  expect(deletes).toBe(0);
  const field = dialog()!.querySelector<HTMLInputElement>('input')!;
  field.value = 'harbor';
  field.dispatchEvent(new Event('input'));
  await settle();
  await click(dialog()!, 'Delete harbor');
  expect([deletes, mounted.root.textContent?.includes('No cluster yet')]).toEqual([1, true]);
});

test('the filter narrows by name, server and user and says what it hides', async () => {
  await show({ 'clusters.watch': feed(listOf(entry('staging'), entry('prod', { user: 'root' }))).handler });
  const filter = mounted.root.querySelector<HTMLInputElement>('input[data-filter]')!;
  filter.value = 'root';
  filter.dispatchEvent(new Event('input'));
  await settle();
  expect(names()).toEqual(['prod']);
  expect(mounted.root.textContent).toContain('1 hidden by the filter');
});

test('when the host is lost the rows stay, are marked stale, and nothing can be changed', async () => {
  await show({ 'clusters.watch': feed(listOf(entry('staging'))).handler });
  connection.lose();
  await settle();
  expect([names(), mounted.root.querySelector('table.stale') !== null]).toEqual([['staging'], true]);
  expect(mounted.root.textContent).toContain('Stale');
  await click(mounted.root, 'Remove staging');
  expect(dialog()).toBeNull();
});

test('files that cannot be read are listed with their reason', async () => {
  await show({
    'clusters.watch': feed<ClusterList>({
      clusters: [],
      problems: [{ path: '/k/old.yaml', message: verbatim('line 14: not YAML') }],
    }).handler,
  });
  expect(mounted.root.textContent).toContain('line 14: not YAML');
});

test('a file that cannot be read can be forgotten by its path', async () => {
  const asked: string[] = [];
  await show({
    'clusters.watch': feed<ClusterList>({
      clusters: [],
      problems: [{ path: '/k/old.yaml', message: verbatim('line 14: not YAML') }],
    }).handler,
    'clusters.forget': ({ id }) => {
      asked.push(id);
      return Promise.resolve(listOf());
    },
  });
  await click(mounted.root, 'Remove');
  expect(asked).toEqual(['/k/old.yaml']);
  expect(mounted.root.textContent).not.toContain('line 14: not YAML');
});

test('the form of a new cluster comes with its defaults: none of an earlier one can be filled in before', async () => {
  const answers: ((defaults: ClusterDefaults) => void)[] = [];
  await show({
    'clusters.watch': feed(listOf(entry('staging'))).handler,
    'clusters.defaults': () => new Promise<ClusterDefaults>((resolve) => answers.push(resolve)),
  });
  const defaults = (name: string): ClusterDefaults => ({
    wishes: {
      name,
      directory: null,
      topology: 'stacked',
      controlPlanes: 3,
      etcdMembers: 3,
      workers: 2,
      kubernetesVersion: 'v1.36.0',
    },
    parentDirectory: '/clusters',
    kubernetesVersions: ['v1.36.0'],
  });
  const field = () => dialog()?.querySelector('input');
  await click(mounted.root, 'Create cluster…');
  expect(field()).toBeNull();
  answers[0]!(defaults('one'));
  await settle();
  await fill(field()!, 'mine');
  await click(dialog()!, 'Cancel');
  await click(mounted.root, 'Create cluster…');
  expect(field()).toBeNull();
  answers[1]!(defaults('two'));
  await settle();
  expect(field()!.value).toBe('two');
});
