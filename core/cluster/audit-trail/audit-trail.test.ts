import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AUDIT_EVENTS_MAX } from '../../contract/index.ts';
import { readAuditEvents, type AuditFilter } from './read-events.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-audit-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ALL: AuditFilter = {
  user: '',
  verb: '',
  object: '',
  resource: null,
  fromMs: null,
  toMs: null,
  onlyDenied: false,
  onlyPeople: false,
};
const AT = Date.UTC(2026, 0, 1);

const line = (
  second: number,
  { verb = 'create', user = 'ada', name = `a-${second}`, code = 201, note = '' } = {},
): string =>
  JSON.stringify({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: `id-${second}`,
    stage: 'ResponseComplete',
    requestURI: `/api/v1/namespaces/default/pods/${name}`,
    verb,
    user: { username: user, groups: ['system:authenticated'] },
    sourceIPs: ['127.0.0.1'],
    objectRef: { resource: 'pods', namespace: 'default', name },
    responseStatus: { metadata: {}, code },
    stageTimestamp: new Date(AT + second * 1000).toISOString(),
    annotations: { note },
  });

const write = (name: string, lines: readonly string[]): void =>
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
const logs = (...servers: readonly string[]) =>
  servers.map((server) => ({ server, path: join(folder, `${server}.log`) }));
const namesOf = async (filter: Partial<AuditFilter>, ...servers: readonly string[]) =>
  (await readAuditEvents(logs(...servers), { ...ALL, ...filter })).events.map(
    ({ server, name }) => `${server} ${name}`,
  );

test('events of all servers are merged by time, from rotated and compressed files too', async () => {
  write('cp-1.log', [line(5), line(7)]);
  write('cp-1-2026-01-01T00-00-04.000.log', [line(3)]);
  writeFileSync(join(folder, 'cp-1-2026-01-01T00-00-02.000.log.gz'), gzipSync(`${line(1)}\n${line(2)}\n`));
  write('cp-2.log', [line(4), line(6)]);
  expect(await namesOf({}, 'cp-1', 'cp-2')).toEqual([
    'cp-1 a-7',
    'cp-2 a-6',
    'cp-1 a-5',
    'cp-2 a-4',
    'cp-1 a-3',
    'cp-1 a-2',
    'cp-1 a-1',
  ]);
});

test('filters by user, verb, object, time and denial', async () => {
  write('cp-1.log', [
    line(1, { user: 'system:node:worker-1', verb: 'get', code: 200 }),
    line(2, { verb: 'patch', name: 'web' }),
    line(3, { code: 403, name: 'stolen' }),
  ]);
  expect(await namesOf({ user: 'NODE' }, 'cp-1')).toEqual(['cp-1 a-1']);
  expect(await namesOf({ verb: 'write' }, 'cp-1')).toEqual(['cp-1 stolen', 'cp-1 web']);
  expect(await namesOf({ object: 'pods/web' }, 'cp-1')).toEqual(['cp-1 web']);
  expect(await namesOf({ onlyDenied: true }, 'cp-1')).toEqual(['cp-1 stolen']);
  expect(await namesOf({ fromMs: AT + 2000, toMs: AT + 2500 }, 'cp-1')).toEqual(['cp-1 web']);
  const resource = { group: '', resource: 'pods', namespace: 'default', name: 'web' };
  expect(await namesOf({ resource }, 'cp-1')).toEqual(['cp-1 web']);
});

test('people are distinguished from components, nodes, service accounts and the console itself', async () => {
  const users = [
    'ada',
    'system:kube-scheduler',
    'system:node:worker-1',
    'system:serviceaccount:default:web',
    'system:anonymous',
    'kubernetes-admin',
  ];
  write(
    'cp-1.log',
    users.map((user, second) => line(second, { user, name: user })),
  );
  expect(await namesOf({ onlyPeople: true }, 'cp-1')).toEqual([
    'cp-1 kubernetes-admin',
    'cp-1 system:anonymous',
    'cp-1 ada',
  ]);
});

test('lines that are longer than a chunk, cut off or not JSON harm nothing', async () => {
  const long = line(2, { note: 'x'.repeat(700_000) });
  writeFileSync(join(folder, 'cp-1.log'), `not json\n${line(1)}\n${long}\n{"kind":"Event","cut`);
  expect(await namesOf({}, 'cp-1')).toEqual(['cp-1 a-2', 'cp-1 a-1']);
});

test('a search is bounded, and says how far it went', async () => {
  write(
    'cp-1.log',
    Array.from({ length: AUDIT_EVENTS_MAX + 50 }, (_, at) => line(at)),
  );
  const { events, isTruncated, searchedFromMs } = await readAuditEvents(logs('cp-1'), ALL);
  expect([events.length, isTruncated, searchedFromMs]).toEqual([AUDIT_EVENTS_MAX, true, AT + 50_000]);
});

test('without a log there are no events', async () => {
  expect(await readAuditEvents(logs('cp-1'), ALL)).toEqual({
    events: [],
    searchedFromMs: null,
    isTruncated: false,
    files: [join(folder, 'cp-1.log')],
  });
});
