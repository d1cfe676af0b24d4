import { beforeAll, expect, inject, test } from 'vitest';
import type { PrintedFinding } from '../../main/cli/commands/findings.ts';
import { pilothouse } from '../support/cluster.ts';
import { attackedApi, type AttackedApi } from './api-client.ts';

const NAMESPACE = 'api-unenforced';
const data = inject('attackedData');
let api: AttackedApi;
beforeAll(async () => {
  api = await attackedApi(data);
  await api.json(
    { ...api.admin, method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: NAMESPACE } } },
    201,
  );
});

const CLAIMS = `/apis/resource.k8s.io/v1/namespaces/${NAMESPACE}/resourceclaims`;
const WARNING = '299 - "ResourceClaim is stored but not enforced: no device is allocated"';

test('a ResourceClaim gets a warning that no device is allocated, and the check lists it', async () => {
  const body = { metadata: { name: 'gpu' }, spec: {} };
  const created = await api.ask({ ...api.admin, method: 'POST', path: CLAIMS, body });
  const patched = await api.ask({
    ...api.admin,
    method: 'PATCH',
    path: `${CLAIMS}/gpu`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { labels: { a: 'b' } } },
  });
  const read = await api.ask({ ...api.admin, path: `${CLAIMS}/gpu` });
  expect([created, patched, read].map(({ code, headers }) => [code, headers['warning']])).toEqual([
    [201, WARNING],
    [200, WARNING],
    [200, undefined],
  ]);
  const { stdout } = await pilothouse('check', '--data', data, '-o', 'json');
  const finding = (JSON.parse(stdout) as PrintedFinding[]).find(({ id }) => id === 'unenforcedObjects');
  expect([finding?.verdict, finding?.message.includes(`ResourceClaim ${NAMESPACE}/gpu`)]).toEqual([
    'warning',
    true,
  ]);
});

test('an enforced level adds no warning to the response', async () => {
  const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
  const { code, headers } = await api.ask({
    ...api.admin,
    method: 'POST',
    path,
    body: { metadata: { name: 'plain' } },
  });
  expect([code, headers['warning']]).toEqual([201, undefined]);
});
