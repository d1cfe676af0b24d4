import { expect, test } from 'vitest';
import { StatusError } from '../../core/api/meta/status.ts';
import { type ApiRequest, verbatim } from '../../core/contract/index.ts';
import { checkedPath, isWrite } from './api-request.ts';
import { conflictsOf } from './apply.ts';
import { endOf } from './exec.ts';

const refused = (path: string): boolean => {
  try {
    checkedPath(path);
    return false;
  } catch {
    return true;
  }
};

test('only paths of the API are sent, in their only spelling', () => {
  const bad = [
    'https://elsewhere/api/v1',
    '//elsewhere/api',
    '/metrics',
    '/api/v1/../../metrics',
    '/api/v1/namespaces/%2e%2e/secrets',
    '/api/v1/namespaces/a%2Fb',
    '/api/v1/pods?watch=1',
    '/api/v1/pods#x',
    '/api//v1',
    '',
  ];
  expect(bad.filter((path) => !refused(path))).toEqual([]);
  const good = [
    '/version',
    '/api/v1/pods',
    '/apis/apps/v1/namespaces/web/deployments/a:b',
    '/api/v1/namespaces/proxy',
  ];
  expect(good.filter(refused)).toEqual([]);
});

test('a way into a pod is no plain request', () => {
  const ways = ['exec', 'attach', 'portforward', 'proxy'].map((way) => `/api/v1/namespaces/a/pods/p/${way}`);
  expect(ways.filter((path) => !refused(path))).toEqual([]);
});

test('a dry run is no write; everything but a read else is', () => {
  const request = (method: ApiRequest['method'], query: Record<string, string> = {}): ApiRequest => ({
    cluster: 'c',
    method,
    path: '/api/v1/pods',
    query,
  });
  const writes = [
    request('GET'),
    request('PATCH'),
    request('DELETE'),
    request('POST', { dryRun: 'All' }),
    request('POST', { dryRun: '' }),
  ].map(isWrite);
  expect(writes).toEqual([false, true, true, false, true]);
});

test('conflicts name the field and its manager', () => {
  const error = new StatusError('Conflict', 'Apply failed with 1 conflict', {
    code: 409,
    details: {
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "kubectl-scale" using apps/v1',
          field: '.spec.replicas',
        },
        { reason: 'Other', message: 'x', field: 'y' },
      ],
    },
  });
  expect(conflictsOf(error)).toEqual([
    {
      manager: 'kubectl-scale',
      field: '.spec.replicas',
      message: 'conflict with "kubectl-scale" using apps/v1',
    },
  ]);
});

test('the end of a command carries its exit code', () => {
  const failure = {
    status: 'Failure',
    message: 'exit 3',
    details: { causes: [{ reason: 'ExitCode', message: '3' }] },
  };
  expect([endOf('{"status":"Success"}'), endOf(JSON.stringify(failure)), endOf('torn')]).toEqual([
    { kind: 'ended', exitCode: 0, message: null },
    { kind: 'ended', exitCode: 3, message: verbatim('exit 3') },
    { kind: 'ended', exitCode: null, message: verbatim('torn') },
  ]);
});
