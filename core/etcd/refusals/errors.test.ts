import { expect, test } from 'vitest';
import { ReasonError } from '../../base/errors.ts';
import { etcdError, statusOf } from './errors.ts';

test('a reason becomes the code and the text that clients of etcd match on', () => {
  expect(
    ['Compacted', 'LeaseNotFound', 'NoSpace', 'Timeout'].map((r) => statusOf(etcdError(r as 'Timeout'))),
  ).toEqual([
    { code: 'OutOfRange', text: 'etcdserver: mvcc: required revision has been compacted' },
    { code: 'NotFound', text: 'etcdserver: requested lease not found' },
    { code: 'ResourceExhausted', text: 'etcdserver: mvcc: database space exceeded' },
    { code: 'Unavailable', text: 'etcdserver: request timed out' },
  ]);
});

test('failures of the store and of membership are known by their own reasons', () => {
  expect(['FutureRevision', 'IDRemoved'].map((r) => statusOf(new ReasonError(r, 'their words')))).toEqual([
    { code: 'OutOfRange', text: 'etcdserver: mvcc: required revision is a future revision' },
    { code: 'NotFound', text: 'etcdserver: member not found' },
  ]);
});

test('an error that is not in the table is Unknown and keeps its message', () => {
  expect([statusOf(new Error('boom')), statusOf(new ReasonError('constructor', 'odd'))]).toEqual([
    { code: 'Unknown', text: 'boom' },
    { code: 'Unknown', text: 'odd' },
  ]);
});
