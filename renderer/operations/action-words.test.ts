import { expect, test } from 'vitest';
import { actionCommand, type ClusterAction } from '../../core/contract/index.ts';
import { actionTitle, needsTyping } from './action-words.ts';

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

test('what brings a host back is never typed, what removes a member always', () => {
  expect([
    needsTyping({ kind: 'host.start', host: 'cp-1' }, 'outage'),
    needsTyping({ kind: 'member.remove', member: 'cp-1' }, 'safe'),
  ]).toEqual([false, true]);
});
