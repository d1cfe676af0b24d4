import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import type { PrintedFinding } from '../../main/cli/commands/findings.ts';
import { pilothouse } from '../support/cluster.ts';
import { until } from '../support/until.ts';
import { attackedApi, type AttackedApi } from './api-client.ts';

interface Event {
  readonly auditID: string;
  readonly level: string;
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username?: string };
  readonly objectRef?: Readonly<Record<string, string>>;
  readonly responseStatus: { readonly code: number; readonly message?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

const NAMESPACE = 'audited';
const data = inject('attackedData');
const folder = join(data, 'audit');
let api: AttackedApi;
beforeAll(async () => {
  api = await attackedApi(data);
  await api.json(
    { ...api.admin, method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: NAMESPACE } } },
    201,
  );
});

const eventsOf = (auditID: string): Event[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line.includes(`"auditID":"${auditID}"`))
    .map((line) => JSON.parse(line) as Event);

const eventOf = (auditID: string): Promise<Event> =>
  until(`an audit event of ${auditID}`, () => {
    const [event] = eventsOf(auditID);
    if (!event) throw new Error('no event yet');
    return Promise.resolve(event);
  });

const auditId = (answer: { readonly headers: Readonly<Record<string, unknown>> }): string =>
  String(answer.headers['audit-id']);

test('access to a Secret is recorded without its value', async () => {
  const path = `/api/v1/namespaces/${NAMESPACE}/secrets`;
  const value = Buffer.from('an audited value').toString('base64');
  const body = { metadata: { name: 'a' }, data: { password: value } };
  const created = await api.ask({ ...api.admin, method: 'POST', path, body });
  const read = await api.ask({ ...api.admin, path: `${path}/a` });
  const events = [await eventOf(auditId(created)), await eventOf(auditId(read))];
  expect(
    events.map(({ level, verb, objectRef, responseStatus }) => [
      level,
      verb,
      objectRef?.['name'],
      responseStatus.code,
    ]),
  ).toEqual([
    ['Metadata', 'create', 'a', 201],
    ['Metadata', 'get', 'a', 200],
  ]);
  for (const name of readdirSync(folder))
    expect(readFileSync(join(folder, name)).includes(value)).toBe(false);
});

test('a denied escalation is recorded with who tried it and why it was denied', async () => {
  const mallory = api.identity('mallory');
  const answer = await api.ask({
    ...mallory,
    method: 'POST',
    path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    body: {
      metadata: { name: 'mallory' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
    },
  });
  const event = await eventOf(auditId(answer));
  expect([
    answer.code,
    event.user.username,
    event.responseStatus.code,
    event.annotations?.['authorization.k8s.io/decision'],
  ]).toEqual([403, 'mallory', 403, 'forbid']);
});

test('a failed login is recorded, and its token is not', async () => {
  const answer = await api.ask({ token: 'no-such-token-0123456789', path: '/api/v1/pods' });
  const event = await eventOf(auditId(answer));
  expect([answer.code, event.stage, event.responseStatus]).toEqual([
    401,
    'ResponseStarted',
    { metadata: {}, message: 'Authentication failed, attempted: bearer', code: 401 },
  ]);
  expect(JSON.stringify(event)).not.toContain('no-such-token');
});

test('renewals of leases are not recorded, and the check passes', async () => {
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
  const renewals = lines.filter(
    (line) =>
      /"resource":"leases".*"code":200/.test(line) &&
      /"verb":"update","user":{"username":"system:/.test(line),
  );
  expect(renewals).toEqual([]);
  const { stdout } = await pilothouse('check', '--data', data, '-o', 'json');
  const finding = (JSON.parse(stdout) as PrintedFinding[]).find(({ id }) => id === 'auditLog');
  expect(finding?.verdict).toBe('ok');
});
