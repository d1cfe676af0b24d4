import { expect, test } from 'vitest';
import { actionCommand } from './command.ts';
import type { ClusterAction } from './actions.ts';

const place = { directory: '/data/my cluster', kubeconfigPath: '/k.conf' };

test.each<[ClusterAction, string | undefined]>([
  [{ kind: 'host.pause', host: 'cp-1' }, "pilothouse host pause cp-1 --data '/data/my cluster'"],
  [
    { kind: 'component.stop', host: 'cp-1', component: 'etcd' },
    "pilothouse host stop cp-1 etcd --data '/data/my cluster'",
  ],
  [{ kind: 'etcd.compact', revision: null }, "pilothouse compact --data '/data/my cluster'"],
  [{ kind: 'etcd.compact', revision: 7 }, "pilothouse compact 7 --data '/data/my cluster'"],
  [
    { kind: 'snapshot.restore', file: "/it's.db" },
    String.raw`pilothouse snapshot restore '/it'\''s.db' --data '/data/my cluster'`,
  ],
  [{ kind: 'certificates.renew', names: null }, "pilothouse certs renew all --data '/data/my cluster'"],
  [
    {
      kind: 'node.drain',
      node: 'worker-1',
      ignoreDaemonSets: true,
      deleteEmptyDirData: false,
      force: true,
      gracePeriodSeconds: 5,
    },
    'kubectl --kubeconfig /k.conf drain worker-1 --ignore-daemonsets --force --grace-period=5',
  ],
  [
    { kind: 'fault.add', fault: { kind: 'delay', from: 'cp-1', to: 'cp-2', delayMs: 50, isOneWay: true } },
    "pilothouse fault delay cp-1 cp-2 50 --one-way --data '/data/my cluster'",
  ],
  [
    { kind: 'fault.add', fault: { kind: 'clock', host: 'cp-1', offsetMs: -5000 } },
    "pilothouse fault clock cp-1 -5000 --data '/data/my cluster'",
  ],
  [{ kind: 'fault.isolate', host: 'cp-3' }, "pilothouse fault isolate cp-3 --data '/data/my cluster'"],
  [{ kind: 'fault.heal', id: 'all' }, "pilothouse fault heal all --data '/data/my cluster'"],
  [{ kind: 'member.add' }, "pilothouse member add --data '/data/my cluster'"],
  [{ kind: 'upgrade.rollback' }, "pilothouse upgrade rollback --data '/data/my cluster'"],
  [{ kind: 'etcd.disarm' }, undefined],
])('%j is %s', (action, command) => {
  expect(actionCommand(action, place)).toBe(command);
});
