import { expect, test } from 'vitest';
import { certificateFixture, daysFromNow, FIXTURE_NOW_MS as NOW } from './certificate-fixture.ts';
import {
  authorityTree,
  byUrgency,
  certificateState,
  componentOf,
  endsAtMs,
  matches,
  pairedSerial,
  placeOf,
} from './certificate-state.ts';

const served = (serial: string, days: number) => ({
  address: '127.21.0.13:6443',
  serial,
  notAfterMs: daysFromNow(days),
});
const any = {
  text: '',
  authority: undefined,
  branch: undefined,
  host: undefined,
  state: undefined,
  names: undefined,
};

test('a certificate is fine, due within 30 days, or expired', () => {
  const of = (days: number) =>
    certificateState(certificateFixture('a', { notAfterMs: daysFromNow(days) }), NOW);
  expect([of(217), of(30), of(29.5), of(0.1), of(0), of(-3)]).toEqual([
    'ok',
    'ok',
    'due',
    'due',
    'expired',
    'expired',
  ]);
});

test('a renewed file that is not served yet is stale, and what is served says when clients fail', () => {
  const one = certificateFixture('a', { served: served('2f8803d1', 21) });
  expect([certificateState(one, NOW), endsAtMs(one)]).toEqual(['stale', daysFromNow(21)]);
});

test('a served certificate that has ended is expired, whatever the file says', () => {
  expect(certificateState(certificateFixture('a', { served: served('2f8803d1', -1) }), NOW)).toBe('expired');
});

test('the same serial in another spelling is the same', () => {
  expect(certificateState(certificateFixture('a', { served: served('00:5C:1E:90:A7', 217) }), NOW)).toBe(
    'ok',
  );
  expect(pairedSerial('05C1E90A7')).toBe('5c:1e:90:a7');
});

test('host and component are derived from the name', () => {
  expect([
    placeOf('hosts/cp-1/etcd/server'),
    placeOf('admin.conf'),
    componentOf('hosts/cp-3/apiserver'),
    componentOf('hosts/cp-3/etcd/peer'),
    componentOf('hosts/workers/kubelet'),
    componentOf('front-proxy-client'),
  ]).toEqual([
    { host: 'cp-1', short: 'etcd/server' },
    { host: '', short: 'admin.conf' },
    { host: 'cp-3', component: 'kube-apiserver' },
    { host: 'cp-3', component: 'etcd' },
    undefined,
    undefined,
  ]);
});

test('leaf certificates are below their authority, foreign ones below none', () => {
  const tree = authorityTree([
    certificateFixture('ca', { kind: 'authority', authority: 'kubernetes' }),
    certificateFixture('hosts/cp-1/apiserver'),
    certificateFixture('admin.conf', { kind: 'kubeconfig', usages: ['client'] }),
    certificateFixture('odd', { authority: '' }),
  ]);
  expect(
    tree.map(({ id, certificates, branches }) => [
      id,
      certificates.length,
      branches.map(({ branch, leaves }) => `${branch} ${leaves.length}`),
    ]),
  ).toEqual([
    ['kubernetes', 1, ['serving 1', 'clients 1']],
    ['', 0, ['serving 1']],
  ]);
});

test('certificates that need action come first', () => {
  const list = [
    certificateFixture('fine-10'),
    certificateFixture('fine-9'),
    certificateFixture('due', { notAfterMs: daysFromNow(3) }),
    certificateFixture('over', { notAfterMs: daysFromNow(-3) }),
    certificateFixture('stale', { served: served('1', 100) }),
  ];
  expect(list.toSorted(byUrgency(NOW)).map(({ name }) => name)).toEqual([
    'over',
    'stale',
    'due',
    'fine-9',
    'fine-10',
  ]);
});

test('a filter narrows by words, authority, host and state', () => {
  const one = certificateFixture('hosts/cp-1/apiserver');
  expect([
    matches(one, any, NOW),
    matches(one, { ...any, text: '10.96' }, NOW),
    matches(one, { ...any, text: 'etcd' }, NOW),
    matches(one, { ...any, host: 'cp-1', authority: 'kubernetes', branch: 'serving' }, NOW),
    matches(one, { ...any, branch: 'clients' }, NOW),
    matches(one, { ...any, state: 'action' }, NOW),
    matches(one, { ...any, names: [] }, NOW),
  ]).toEqual([true, true, false, true, false, false, false]);
});
