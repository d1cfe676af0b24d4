import { expect, test } from 'vitest';
import { verbatim, inEnglish } from '../../contract/index.ts';
import { fatalFailure, startFailures, type StartLook } from './start-failures.ts';
import type { HostState } from '../state/cluster-state.ts';
import { hostState } from './testing/host-state.ts';

const DAMAGED = 'a record does not match its checksum\n  at somewhere';

const host = (name: string, change: Partial<HostState> = {}, etcdRestarts = 0): HostState =>
  hostState(name, {
    components: [
      {
        name: 'etcd',
        phase: etcdRestarts > 0 ? 'exited' : 'ready',
        version: '',
        restarts: etcdRestarts,
        changedMs: 0,
        message: etcdRestarts > 0 ? DAMAGED : undefined,
        isRejected: false,
        heapBytes: undefined,
        utilization: undefined,
      },
    ],
    ...change,
  });

const look = (hosts: readonly HostState[], broken: StartLook['broken'] = []): StartLook => {
  const names = hosts.map(({ name }) => name);
  return { hosts, members: names, apiServers: names, broken };
};

const verdict = (seen: StartLook): string | undefined => {
  const fatal = fatalFailure(seen, startFailures(seen));
  return fatal && inEnglish(fatal);
};

test('the only member that does not start is the end of the start, in one line', () => {
  expect(verdict(look([host('cp-1', {}, 1)]))).toBe(
    'etcd on cp-1 failed to start: a record does not match its checksum',
  );
});

test('a member that rejects its flags is not waited for', () => {
  const first = host('cp-1');
  const components = first.components.map((etcd) => ({
    ...etcd,
    ...{ phase: 'exited' as const, message: 'unknown flag: --nope', isRejected: true },
  }));
  expect(verdict(look([{ ...first, components }]))).toBe(
    'etcd on cp-1 failed to start: unknown flag: --nope',
  );
});

test('one damaged member of three is left behind, two are too many', () => {
  const one = look([host('cp-1', {}, 1), host('cp-2'), host('cp-3')]);
  expect([startFailures(one).map((failure) => failure.host), verdict(one)]).toEqual([['cp-1'], undefined]);
  expect(verdict(look([host('cp-1', {}, 1), host('cp-2', {}, 2), host('cp-3')]))).toContain('etcd on cp-1');
});

test('a host whose process crashes says what may be damaged', () => {
  const crashed = host('cp-1', {
    phase: 'killed',
    message: verbatim('terminated by SIGSEGV'),
    exitSignal: 'SIGSEGV',
  });
  expect(verdict(look([crashed]))).toContain(
    'host cp-1 is killed: terminated by SIGSEGV; its etcd database may be damaged',
  );
});

test('a manifest that cannot be read counts as what it would have started', () => {
  const broken = [
    { host: 'cp-1', component: 'kube-apiserver', message: verbatim('kube-apiserver.yaml is not YAML') },
  ];
  expect(verdict(look([host('cp-1')], broken))).toBe('kube-apiserver.yaml is not YAML');
  expect(verdict(look([host('cp-1'), host('cp-2'), host('cp-3')], broken))).toBeUndefined();
});

test('a host that was just restarted has time to become ready', () => {
  const seen = look([
    host('cp-1', { components: [{ ...host('cp-1', {}, 1).components[0]!, phase: 'starting' }] }),
  ]);
  expect(startFailures(seen)).toEqual([]);
});

test('hosts that end in order before the cluster is ready are waited for no longer than those that are killed', () => {
  const ended = (name: string): HostState => host(name, { phase: 'stopped', components: [] });
  expect(verdict(look([ended('cp-1'), ended('cp-2'), host('cp-3')]))).toBe(
    'host cp-1 is stopped: it exited before the cluster was ready',
  );
});
