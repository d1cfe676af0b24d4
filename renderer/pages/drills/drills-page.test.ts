// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  ContractError,
  say,
  verbatim,
  type DrillRequest,
  type DrillRun,
  type DrillView,
  type Handlers,
} from '../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../stores/clusters.ts';
import { feed, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import DrillsPage from './DrillsPage.vue';

const entry = {
  id: '/data/drills',
  name: 'drills',
  origin: 'local',
  server: 'https://127.206.0.100:6443',
  user: 'kubernetes-admin',
  namespace: 'default',
  kubeconfigPath: '/data/drills/kubeconfig/admin.conf',
  readOnly: false,
  local: { phase: 'ready', directory: '/data/drills', kubernetesVersion: 'v1.36.0' },
} as never;

const summary = {
  name: 'scheduler-down',
  topic: 'scheduling',
  difficulty: 'easy',
  title: 'New pods stay Pending',
  germanTitle: 'Neue Pods bleiben Pending',
  parSeconds: 180,
  parSteps: 3,
  hints: 2,
} as const;

const run: DrillRun = {
  name: 'scheduler-down',
  topic: 'scheduling',
  difficulty: 'easy',
  words: { title: 'New pods stay Pending', symptoms: ['Pods wait.'], hints: [], assertions: ['It runs'] },
  german: null,
  phase: 'broken',
  startedAtMs: 1,
  brokenAtMs: 2,
  endedAtMs: null,
  hintsTotal: 2,
  checks: null,
  checkedAtMs: null,
  grade: null,
  story: [],
  parSeconds: 180,
  parSteps: 3,
  problem: null,
  isBusy: false,
};

let mounted: Mounted;
let asked: DrillRequest[];
const show = async (view: DrillView, answer: () => Promise<DrillView> = () => Promise.resolve(view)) => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, '/data/drills');
  const handlers: Handlers = {
    'clusters.watch': feed({ clusters: [entry], problems: [] }).handler,
    'drills.list': () => Promise.resolve([summary]),
    'drills.watch': feed(view).handler as never,
    'drills.request': ({ request }) => {
      asked.push(request);
      return answer();
    },
  };
  mounted = await mount(DrillsPage, testConnection(handlers));
  await settle();
};
const text = (): string => (mounted.root.textContent ?? '').replaceAll(/\s+/g, ' ');
const press = async (label: string): Promise<void> => {
  const button = [...mounted.root.querySelectorAll('button')].find((one) => one.textContent?.includes(label));
  button!.click();
  await settle();
};

beforeEach(() => {
  localStorage.clear();
  asked = [];
});
afterEach(() => mounted.unmount());

test('a cluster that was not created for drills only lists them, and offers to create one that is', async () => {
  await show({ isScratch: false, run: null });
  expect(text()).toContain('New pods stay Pending');
  expect(text()).toContain('Drills need a scratch cluster');
  await press('Start');
  expect(asked).toEqual([]);
});

test('a scratch cluster that is not the current one is offered', async () => {
  const other = { ...(entry as object), id: '/data/desk', name: 'desk' } as never;
  const scratch = entry as { local: object };
  const forDrills = { ...scratch, local: { ...scratch.local, isForDrills: true } } as never;
  localStorage.setItem(CLUSTER_STORAGE_KEY, '/data/desk');
  mounted = await mount(
    DrillsPage,
    testConnection({
      'clusters.watch': feed({ clusters: [other, forDrills], problems: [] }).handler,
      'drills.list': () => Promise.resolve([summary]),
      'drills.watch': feed({ isScratch: false, run: null }).handler as never,
    }),
  );
  await settle();
  await press('Switch to drills');
  expect(localStorage.getItem(CLUSTER_STORAGE_KEY)).toContain('/data/drills');
});

test('a scratch cluster that is stopped can be started, and says so while it starts', async () => {
  const scratch = entry as { local: object };
  const inPhase = (phase: string): never =>
    ({ ...scratch, local: { ...scratch.local, phase, isForDrills: true } }) as never;
  const list = feed({ clusters: [inPhase('stopped')], problems: [] });
  localStorage.setItem(CLUSTER_STORAGE_KEY, '/data/drills');
  mounted = await mount(
    DrillsPage,
    testConnection({
      'clusters.watch': list.handler,
      'drills.list': () => Promise.resolve([summary]),
      'drills.watch': feed({ isScratch: true, run: null }).handler as never,
    }),
  );
  await settle();
  expect(text()).toContain('drills is not running');
  expect(text()).toContain('Drills run on it as soon as it is ready.');
  expect(text()).toContain('Start drills');
  list.push({ clusters: [inPhase('starting')], problems: [] });
  await settle();
  expect(text()).toContain('drills is starting');
  expect(text()).not.toContain('Start drills');
});

test('a drill is started, and shows its symptoms but neither cause nor hints', async () => {
  await show({ isScratch: true, run: null }, () => Promise.resolve({ isScratch: true, run }));
  await press('Start');
  expect(asked).toEqual([{ kind: 'start', name: 'scheduler-down' }]);
  expect(text()).toContain('Pods wait.');
  expect(text()).toContain('No hint asked for yet');
});

test('a hint and a failed check are shown where they belong', async () => {
  const hinted: DrillRun = {
    ...run,
    words: { ...run.words, hints: ['Look at the lease.'] },
    checks: [{ isPassed: false, detail: verbatim('kube-scheduler on cp-1 is exited') }],
  };
  await show({ isScratch: true, run }, () => Promise.resolve({ isScratch: true, run: hinted }));
  await press('Show hint');
  expect(text()).toContain('Look at the lease.');
  expect(text()).toContain('kube-scheduler on cp-1 is exited');
});

test('a check that is asked for while a hint is on its way is not lost', async () => {
  let answer: (view: DrillView) => void = () => undefined;
  const view = { isScratch: true, run };
  await show(view, () => new Promise((resolve) => (answer = resolve)));
  await press('Show hint');
  await press('Check repair');
  expect(asked).toEqual([{ kind: 'hint' }]);
  answer(view);
  await settle();
  expect(asked).toEqual([{ kind: 'hint' }, { kind: 'check' }]);
});

test('a solved drill is graded with what happened', async () => {
  const grade = {
    score: 85,
    seconds: 200,
    parSeconds: 180,
    steps: 4,
    parSteps: 3,
    hints: 1,
    isScripted: false,
  };
  const story = [{ atMs: 3, lane: 'operator', text: say('timeline.recordingBegan'), isStep: true }] as const;
  await show({ isScratch: true, run: { ...run, phase: 'solved', endedAtMs: 9, grade, story: [...story] } });
  expect(text()).toContain('85');
  expect(text()).toContain('What happened');
  expect(text()).not.toContain('Check repair');
});

test('a refusal says why', async () => {
  await show({ isScratch: true, run: null }, () =>
    Promise.reject(new ContractError('Conflict', say('drill.leftOver', { namespace: 'drill-shop' }))),
  );
  await press('Start');
  expect(text()).toContain('drill-shop of an earlier drill is still being deleted');
});
