import { expect, test } from 'vitest';
import { GRPC_CODE, errorOfStatus } from './errors.ts';
import { progressIsTrusted } from './features.ts';

test.each([
  [GRPC_CODE.OutOfRange, 'etcdserver: mvcc: required revision has been compacted', 'Compacted', true],
  [GRPC_CODE.ResourceExhausted, 'etcdserver: too many requests', 'TooManyRequests', true],
  [GRPC_CODE.ResourceExhausted, 'etcdserver: mvcc: database space exceeded', 'NoSpace', true],
  [GRPC_CODE.ResourceExhausted, 'grpc: received message larger than max (3 vs. 2)', 'RequestTooLarge', true],
  [GRPC_CODE.InvalidArgument, 'etcdserver: request is too large', 'RequestTooLarge', true],
  [GRPC_CODE.Unavailable, 'etcdserver: no leader', 'NoLeader', false],
  [GRPC_CODE.Unavailable, 'etcdserver: request timed out', 'Timeout', false],
  [GRPC_CODE.Unavailable, 'etcdserver: server stopped', 'Unavailable', false],
  [GRPC_CODE.DeadlineExceeded, 'context deadline exceeded', 'DeadlineExceeded', false],
  [GRPC_CODE.Unknown, 'anything else', 'Internal', false],
])('status %i with "%s" is %s', (code, text, reason, untouched) => {
  expect(errorOfStatus(code, text)).toMatchObject({ reason, untouched, message: text });
});

test('progress is trusted from the versions on that report it in order', () => {
  const versions = ['3.3.99', '3.4.30', '3.4.31', '3.5.12', '3.5.13', '3.6.0', '4.0.0', 'unknown'];
  expect(versions.filter(progressIsTrusted)).toEqual(['3.4.31', '3.5.13', '3.6.0', '4.0.0']);
});
