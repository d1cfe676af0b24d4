import { expect, test } from 'vitest';
import { ACTIONS, actionCommand, type ClusterAction } from '../../core/contract/index.ts';
import { en } from '../locales/en/index.ts';
import { actionIcon, actionMeaning, actionTitle, needsTyping } from './action-words.ts';

const own = { directory: '/home/ada/Harbour Town', kubeconfigPath: '/k/admin.conf' };

test.each<[ClusterAction, string, string | undefined]>([
  [
    { kind: 'host.kill', host: 'cp-2' },
    'Kill cp-2',
    "pilothouse host kill cp-2 --data '/home/ada/Harbour Town'",
  ],
  [
    { kind: 'component.stop', host: 'cp-1', component: 'kube-scheduler' },
    'Stop kube-scheduler on cp-1',
    "pilothouse host stop cp-1 kube-scheduler --data '/home/ada/Harbour Town'",
  ],
  [
    { kind: 'member.moveLeader', member: 'cp-3' },
    'Move leader to cp-3',
    "pilothouse member move-leader cp-3 --data '/home/ada/Harbour Town'",
  ],
  [
    { kind: 'snapshot.restore', file: '/b/etcd-1.db' },
    'Restore etcd-1.db',
    "pilothouse snapshot restore /b/etcd-1.db --data '/home/ada/Harbour Town'",
  ],
  [{ kind: 'etcd.defragment', member: 'cp-1' }, 'Defragment cp-1', undefined],
  [
    {
      kind: 'node.drain',
      node: 'worker-1',
      ignoreDaemonSets: true,
      deleteEmptyDirData: false,
      force: false,
      gracePeriodSeconds: 30,
    },
    'Drain worker-1',
    'kubectl --kubeconfig /k/admin.conf drain worker-1 --ignore-daemonsets --grace-period=30',
  ],
])('%j has a title and a command line', (action, title, command) => {
  expect([actionTitle(action), actionCommand(action, own)]).toEqual([title, command]);
});

test('a name is typed before an outage, and when the consequence is unknown', () => {
  const kill: ClusterAction = { kind: 'host.kill', host: 'cp-1' };
  expect(
    (['safe', 'degraded', 'outage', undefined] as const).map((verdict) => needsTyping(kill, verdict)),
  ).toEqual([false, false, true, true]);
});

test('starting a host needs no typed confirmation, removing a member always does', () => {
  expect([
    needsTyping({ kind: 'host.start', host: 'cp-1' }, 'outage'),
    needsTyping({ kind: 'member.remove', member: 'cp-1' }, 'safe'),
  ]).toEqual([false, true]);
});

const fields = {
  host: 'cp-1',
  component: 'etcd',
  member: 'cp-1',
  node: 'worker-1',
  file: '/b/etcd-1.db',
  version: 'v1.36.0',
  id: 'f1',
  revision: 7,
  names: ['admin.conf'],
};
const LINK = { from: 'cp-1', to: 'cp-2' };
/** One action of every kind, and each form whose title differs. */
const EVERY: readonly object[] = [
  ...Object.keys(ACTIONS)
    .filter((kind) => kind !== 'fault.add')
    .map((kind) => ({ kind, ...fields })),
  { kind: 'fault.heal', id: 'all' },
  { kind: 'etcd.defragment', member: null },
  { kind: 'etcd.compact', revision: null },
  { kind: 'certificates.renew', names: null },
  ...[true, false].flatMap((isOneWay) => [
    { kind: 'fault.add', fault: { kind: 'cut', ...LINK, isOneWay } },
    { kind: 'fault.add', fault: { kind: 'delay', ...LINK, delayMs: 5, isOneWay } },
  ]),
  { kind: 'fault.add', fault: { kind: 'slow-disk', host: 'cp-1', delayMs: 5 } },
  ...[-5, 5].map((offsetMs) => ({ kind: 'fault.add', fault: { kind: 'clock', host: 'cp-1', offsetMs } })),
];

test('every action has a complete title, a meaning that exists, and an icon', () => {
  for (const one of EVERY) {
    const action = one as ClusterAction;
    const title = actionTitle(action);
    expect(title, action.kind).toMatch(/^[A-Z][^{}]*$/);
    expect(actionMeaning(action) ?? 'None.', action.kind).toMatch(/^[A-Z].*\.$/);
    expect(actionIcon(action), action.kind).toBeTruthy();
  }
  // Each title and sentence of the languages belongs to an action, so none is left behind.
  const said = new Set(EVERY.map((one) => actionTitle(one as ClusterAction)));
  expect(said.size).toBe(EVERY.length);
  const titles = Object.keys(en).filter((key) =>
    new RegExp(`^action\\.(${Object.keys(ACTIONS).join('|')}|fault)(\\.|$)`).test(key),
  );
  expect(titles.length).toBe(EVERY.length);
});
