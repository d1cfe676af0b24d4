// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineComponent, h, ref } from 'vue';
import {
  type ActionPreview,
  type ClusterAction,
  type ClusterList,
  ContractError,
  type Handlers,
  type Operation,
  say,
  verbatim,
} from '../../core/contract/index.ts';
import { click, feed, fill, mount, settle, testConnection, type Mounted } from '../testing/mount.ts';
import DrainDialog from '../pages/resources/detail/DrainDialog.vue';
import ActionDialog from './ActionDialog.vue';
import OperationIndicator from './OperationIndicator.vue';

const own: ClusterList = {
  clusters: [
    {
      id: '/data/harbor',
      name: 'harbor',
      origin: 'local',
      server: 'https://127.21.0.100:6443',
      user: 'kubernetes-admin',
      namespace: 'default',
      kubeconfigPath: '/data/harbor/kubeconfig/admin.conf',
      readOnly: false,
      local: { directory: '/data/harbor', phase: 'ready', kubernetesVersion: 'v1.36.0' },
    },
  ],
  problems: [],
};
const safe: ActionPreview = {
  verdict: 'degraded',
  quorum: { voters: 3, needed: 2, healthyNow: 3, votersAfter: 3, neededAfter: 2, healthyAfter: 2 },
  effects: [],
};
const outage: ActionPreview = {
  ...safe,
  verdict: 'outage',
  quorum: { voters: 3, needed: 2, healthyNow: 2, votersAfter: 3, neededAfter: 2, healthyAfter: 1 },
};
const operation = (state: Operation['state']): Operation => ({
  id: 'op-1',
  action: { kind: 'host.kill', host: 'cp-2' },
  state,
  startedAtMs: 1_000,
  endedAtMs: state === 'done' || state === 'failed' ? 2_000 : null,
  steps: [
    {
      id: 'kill',
      title: say('step.host.kill', { host: 'cp-2' }),
      state: state === 'running' ? 'running' : 'done',
      detail: null,
      startedAtMs: 1_000,
      endedAtMs: null,
    },
    {
      id: 'see',
      title: say('step.host.ready'),
      state: 'waiting',
      detail: null,
      startedAtMs: null,
      endedAtMs: null,
    },
  ],
  message: state === 'done' ? say('done.host.kill', { host: 'cp-2' }) : null,
  canPause: false,
  command: 'pilothouse host kill cp-2',
});

let mounted: Mounted;
const kill: ClusterAction = { kind: 'host.kill', host: 'cp-2' };
const done: string[] = [];
const closed = ref(false);
const Asking = defineComponent({
  setup: () => () =>
    h(ActionDialog, {
      cluster: '/data/harbor',
      action: closed.value ? undefined : kill,
      onDone: (id: string) => done.push(id),
      onClose: () => (closed.value = true),
    }),
});
const dialog = () => document.querySelector<HTMLElement>('[role="dialog"]')!;
const ask = async (handlers: Handlers) => {
  mounted = await mount(Asking, testConnection({ 'clusters.watch': feed(own).handler, ...handlers }));
};

beforeEach(() => {
  localStorage.clear();
  done.length = 0;
  closed.value = false;
});
afterEach(() => mounted.unmount());

test('the dialog counts what is left, shows the command and begins the operation', async () => {
  const asked: ClusterAction[] = [];
  await ask({
    'cluster.preview': () => Promise.resolve(safe),
    'cluster.act': ({ action }) => {
      asked.push(action);
      return Promise.resolve({ operation: 'op-7' });
    },
  });
  expect(dialog().textContent).toContain('2 of 3 etcd members healthy, 2 needed: quorum holds');
  expect(dialog().querySelector('.code-line code')?.textContent).toBe(
    'pilothouse host kill cp-2 --data /data/harbor',
  );
  await click(dialog(), 'Kill cp-2');
  expect([asked, done, closed.value]).toEqual([[kill], ['op-7'], true]);
  expect(JSON.parse(localStorage.getItem('pilothouse.actions') ?? '[]')).toMatchObject([
    { title: 'Kill cp-2', command: 'pilothouse host kill cp-2 --data /data/harbor' },
  ]);
});

test('an outage wants the name of the host typed before its red button does anything', async () => {
  let acts = 0;
  await ask({
    'cluster.preview': () => Promise.resolve(outage),
    'cluster.act': () => {
      acts += 1;
      return Promise.resolve({ operation: 'op-7' });
    },
  });
  await click(dialog(), 'Kill cp-2');
  expect(acts).toBe(0);
  const field = dialog().querySelector<HTMLInputElement>('input')!;
  field.value = 'cp-2';
  field.dispatchEvent(new Event('input'));
  await settle();
  expect(dialog().querySelector('button.danger')?.textContent?.trim()).toBe('Kill cp-2');
  await click(dialog(), 'Kill cp-2');
  expect(acts).toBe(1);
});

test('a host that refuses is heard in the dialog, which stays open', async () => {
  await ask({
    'cluster.preview': () => Promise.resolve(safe),
    'cluster.act': () => Promise.reject(new ContractError('BadRequest', verbatim('cp-2 is already down'))),
  });
  await click(dialog(), 'Kill cp-2');
  expect(dialog().querySelector('[role="alert"]')?.textContent).toContain('cp-2 is already down');
  expect(closed.value).toBe(false);
});

test('without a preview the dialog says why and wants the name typed', async () => {
  await ask({});
  expect(dialog().textContent).toContain('Failed to calculate the impact');
  expect(dialog().querySelector('input')).not.toBeNull();
});

test('a running operation is in the top bar with its step, a finished one disappears', async () => {
  localStorage.setItem('pilothouse.cluster', '/data/harbor');
  const source = feed<Operation[]>([operation('running')]);
  mounted = await mount(
    OperationIndicator,
    testConnection({
      'clusters.watch': feed(own).handler,
      'cluster.operations': (_input, signal) => source.handler(undefined, signal),
    }),
  );
  expect(mounted.root.textContent).toContain('Kill cp-2, step 1 of 2');
  source.push([operation('done')]);
  await settle();
  expect(mounted.root.textContent?.trim()).toBe('Operations');
});

test('a switch that is turned after the name was typed leaves the name, and the button waits for the new answer', async () => {
  const asked: ClusterAction[] = [];
  let isHeld = false;
  const Drain = () => h(DrainDialog, { cluster: '/data/harbor', node: 'worker-1' });
  const connection = testConnection({
    'clusters.watch': feed(own).handler,
    'cluster.preview': ({ action }) => {
      asked.push(action);
      return isHeld ? new Promise(() => undefined) : Promise.resolve(outage);
    },
  });
  mounted = await mount(Drain, connection);
  const field = dialog().querySelector<HTMLInputElement>('input[type=text]')!;
  await fill(field, 'worker-1');
  isHeld = true;
  dialog().querySelectorAll<HTMLElement>('[role=switch]')[2]!.click();
  await settle();
  expect([asked.length, dialog().contains(field), field.value]).toEqual([2, true, 'worker-1']);
  expect(dialog().querySelector('footer button:last-child')?.getAttribute('aria-disabled')).toBe('true');
});
