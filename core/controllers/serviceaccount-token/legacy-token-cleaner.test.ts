import { expect, onTestFinished, test } from 'vitest';
import { formatTime } from '../../api/meta/index.ts';
import { CONFIG_MAP, POD, SECRET, SERVICE_ACCOUNT } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { legacyTokenCleaner, verdictOn } from './legacy-token-cleaner.ts';

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const NOW_MS = Date.parse('2026-06-15T12:00:00Z');
const INVALID = 'kubernetes.io/legacy-token-invalid-since';
const USED = 'kubernetes.io/legacy-token-last-used';

const secret = (labels: Record<string, string>, createdMs = NOW_MS - 2 * YEAR_MS) => ({
  metadata: { name: 's', uid: 'u', resourceVersion: '1', creationTimestamp: formatTime(createdMs), labels },
});

test.each([
  ['is young', secret({}, NOW_MS - DAY_MS), 'keep'],
  ['was used within the period', secret({ [USED]: '2025-06-15' }), 'keep'],
  ['has a date of use that is none', secret({ [USED]: 'yesterday' }), 'keep'],
  ['was never used', secret({}), 'invalidate'],
  ['was used too long ago', secret({ [USED]: '2025-06-14' }), 'invalidate'],
  ['has a mark that is no date', secret({ [INVALID]: 'x' }), 'invalidate'],
  ['was marked within the period', secret({ [INVALID]: '2025-06-15' }), 'keep'],
  ['was marked too long ago', secret({ [INVALID]: '2025-06-14' }), 'delete'],
] as const)('a token that %s', (_what, one, verdict) => {
  expect(verdictOn(one, NOW_MS, YEAR_MS)).toBe(verdict);
});

const TYPE = 'kubernetes.io/service-account-token';

const fixture = (since: string) => {
  const api = new FakeApi();
  const old = formatTime(api.clock.nowMs() - 3 * YEAR_MS);
  const token = (name: string, labels: Record<string, string> = {}) =>
    api.seed(SECRET, {
      metadata: {
        name,
        creationTimestamp: old,
        labels,
        annotations: { 'kubernetes.io/service-account.name': 'robot' },
      },
      type: TYPE,
    });
  api.seed(CONFIG_MAP, {
    metadata: { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' },
    data: { since },
  });
  api.seed(SERVICE_ACCOUNT, {
    metadata: { name: 'robot' },
    secrets: [{ name: 'unused' }, { name: 'mounted' }, { name: 'spent' }],
  });
  token('unused');
  token('manual');
  token('mounted', { [INVALID]: '1960-01-01' });
  token('spent', { [INVALID]: '1960-01-01' });
  api.seed(POD, {
    metadata: { name: 'p' },
    spec: { containers: [], volumes: [{ name: 'v', secret: { secretName: 'mounted' } }] },
  });
  return api;
};

const marks = (api: FakeApi): Record<string, boolean> =>
  Object.fromEntries(
    api.list(SECRET).map(({ metadata }) => [metadata.name, metadata.labels?.[INVALID] !== undefined]),
  );

test('marks and deletes generated tokens alone, and none that a pod mounts', async () => {
  const api = fixture('1960-01-01');
  const running = await startOnFake(api, legacyTokenCleaner);
  onTestFinished(() => running.stop());
  await api.settle();
  expect(marks(api)).toEqual({ manual: false, mounted: true, unused: true });
});

test('does nothing before uses were tracked for the whole period', async () => {
  const api = fixture(formatTime(new FakeApi().clock.nowMs()).slice(0, 10));
  const running = await startOnFake(api, legacyTokenCleaner);
  onTestFinished(() => running.stop());
  await api.settle();
  expect(Object.keys(marks(api)).sort()).toEqual(['manual', 'mounted', 'spent', 'unused']);
});
