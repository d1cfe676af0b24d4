import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { etcdAccessOf, type EtcdAccess } from '../../core/cluster/etcd-operator/operations.ts';
import { requireCluster } from '../../core/cluster/data-folder/open.ts';

/** A call of etcd's JSON gateway, as curl makes it. */
const askEtcd = async (
  { endpoints: [endpoint = ''], tls }: EtcdAccess,
  path: string,
  body: unknown,
): Promise<Record<string, unknown>> => {
  const asked = request(`${endpoint}${path}`, { method: 'POST', ...tls }).end(JSON.stringify(body));
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const text = await readText(response);
  expect(response.statusCode, text).toBe(200);
  return JSON.parse(text) as Record<string, unknown>;
};

/** Hashes of members, a lock, a user and a role: made through etcd's own gateway, read on the page of Raft. */
export const inspectEtcd = async (page: Page, cluster: string): Promise<void> => {
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });

  const etcd = etcdAccessOf(cluster, await requireCluster(cluster));
  const { ID: lease } = await askEtcd(etcd, '/v3/lease/grant', { TTL: 600 });
  const name = Buffer.from('migration').toString('base64');
  await askEtcd(etcd, '/v3/lock/lock', { name, lease });
  await askEtcd(etcd, '/v3/auth/role/add', { name: 'reader' });
  const perm = { permType: 'READ', key: Buffer.from('/registry/').toString('base64') };
  await askEtcd(etcd, '/v3/auth/role/grant', { name: 'reader', perm });
  await askEtcd(etcd, '/v3/auth/user/add', { name: 'auditor', password: 'secret' });
  await askEtcd(etcd, '/v3/auth/user/grant', { user: 'auditor', role: 'reader' });

  await page.evaluate(() => (window.location.hash = '/raft?window=5m'));
  await button('Compare').click();
  await page.getByText(/^All members have the same keys at revision [\d,]+$/).waitFor();
  const tab = (text: string): Locator =>
    page.getByRole('group', { name: 'Consistency and access' }).getByText(text, { exact: true });
  await tab('Locks').click();
  await page.getByRole('row', { name: /^migration holds the lock [0-9a-f]+ \d+ s/ }).waitFor();
  await tab('Users').click();
  await page.getByText('Auth disabled: client certificates alone decide who may connect').waitFor();
  await page.getByRole('row', { name: 'auditor reader' }).waitFor();
  await page.getByRole('row', { name: 'reader read /registry/' }).waitFor();
  await askEtcd(etcd, '/v3/lease/revoke', { ID: lease });
  await askEtcd(etcd, '/v3/auth/user/delete', { name: 'auditor' });
  await askEtcd(etcd, '/v3/auth/role/delete', { role: 'reader' });
  await button('Refresh').click();
  await page.getByText('No users and no roles.').waitFor();
  await tab('Locks').click();
  await page.getByText('No locks and no elections.').waitFor();
};
