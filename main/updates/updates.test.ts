import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { manualClock } from '../../core/base/manual-clock.ts';
import { settingsDefault } from '../../core/contract/index.ts';
import { createUpdateChecker } from './checker.ts';
import { compareVersions, newerReleases, openFeed, type UpdateFeed } from './feed.ts';
import { fetchFeed } from './fetch-feed.ts';

const NOW_MS = Date.parse('2026-06-01T00:00:00Z');
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const KEY = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');

const release = (version: string): UpdateFeed['releases'][number] => ({
  version,
  date: '2026-05-01',
  notes: '- More',
  files: [
    {
      platform: process.platform,
      arch: process.arch,
      url: 'https://example.com/a.deb',
      sha256: 'a'.repeat(64),
      bytes: 1,
    },
    { platform: 'other', arch: 'x', url: 'https://example.com/b', sha256: 'b'.repeat(64), bytes: 2 },
  ],
});
const FEED: UpdateFeed = {
  product: 'pilothouse',
  sequence: 7,
  expires: '2026-07-01T00:00:00Z',
  releases: [release('0.1.0'), release('0.3.0'), release('0.2.0'), release('0.4.0-rc.1')],
};

const signed = (feed: object) => {
  const bytes = Buffer.from(JSON.stringify(feed));
  return { bytes, signature: sign(null, bytes, privateKey).toString('base64') };
};
const open = (feed: object, more: { publicKey?: string; signature?: string; seenSequence?: number } = {}) =>
  openFeed({ ...signed(feed), publicKey: KEY, nowMs: NOW_MS, seenSequence: 0, ...more });

test('a feed that is signed with the key is read', () => {
  expect(open(FEED)).toEqual(FEED);
});

test.each([
  [
    'another signature',
    FEED,
    { signature: Buffer.alloc(64).toString('base64') },
    'not signed with the configured key',
  ],
  ['a short signature', FEED, { signature: 'AA==' }, 'not signed with the configured key'],
  ['no key', FEED, { publicKey: '' }, 'must be 32 bytes in base64'],
  ['an expired one', { ...FEED, expires: '2026-05-31T00:00:00Z' }, {}, 'expired at 2026-05-31'],
  ['an older one than before', FEED, { seenSequence: 8 }, 'is older (7) than one that was seen before (8)'],
  ['another product', { ...FEED, product: 'other' }, {}, 'product'],
  ['no releases', { ...FEED, releases: [] }, {}, 'releases'],
  [
    'a download without TLS',
    {
      ...FEED,
      releases: [{ ...release('9.0.0'), files: [{ ...release('9.0.0').files[0], url: 'http://x/' }] }],
    },
    {},
    'url',
  ],
])('%s is rejected', (_what, feed, more, message) => {
  expect(() => open(feed, more)).toThrow(message);
});

test('versions are ordered as Semantic Versioning does', () => {
  const ordered = [
    '0.9.0',
    '0.10.0-rc.1',
    '0.10.0-rc.2',
    '0.10.0-rc.10',
    '0.10.0',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0',
  ];
  expect([...ordered].reverse().sort(compareVersions)).toEqual(ordered);
  expect(compareVersions('1.2.3', '1.2.3')).toBe(0);
});

test('pre-releases are offered to those who run one', () => {
  const versions = (current: string) => newerReleases(FEED, current).map(({ version }) => version);
  expect([versions('0.2.0'), versions('0.3.0'), versions('0.3.0-rc.1')]).toEqual([
    ['0.3.0'],
    [],
    ['0.4.0-rc.1', '0.3.0'],
  ]);
});

const checkerWith = (updateFeed: string) => {
  const clock = manualClock(NOW_MS);
  const told: string[] = [];
  const asked: string[] = [];
  let sequence = 0;
  const checker = createUpdateChecker({
    version: '0.2.0',
    clock,
    log: silentLog,
    settings: () => ({ ...settingsDefault, updateFeed, updateKey: KEY }),
    seen: { read: () => sequence, write: async (_feed, next) => void (sequence = next) },
    onAvailable: (version) => told.push(version),
    fetch: async (feed) => {
      asked.push(feed);
      return signed(FEED);
    },
  });
  return { clock, checker, told, asked, sequence: () => sequence };
};

test('without a feed nothing is asked for, now or later', async () => {
  const { checker, clock, asked } = checkerWith('');
  expect(await checker.check()).toEqual({ state: 'off', current: '0.2.0', releases: [] });
  clock.advance(10 * 24 * 60 * 60_000);
  await Promise.resolve();
  expect(asked).toEqual([]);
  checker.dispose();
  expect(clock.pendingCount).toBe(0);
});

test('a newer release is reported once, with its changelog and the files of this platform', async () => {
  const { checker, told, sequence } = checkerWith('https://example.com/feed.json');
  const report = await checker.check();
  await checker.check();
  expect([report.state, told, sequence()]).toEqual(['available', ['0.3.0'], 7]);
  expect(report.releases).toEqual([
    {
      version: '0.3.0',
      date: '2026-05-01',
      notes: '- More',
      files: [{ url: 'https://example.com/a.deb', sha256: 'a'.repeat(64), bytes: 1 }],
    },
  ]);
  checker.dispose();
});

test.each([
  'http://example.com/feed.json',
  'https://user:word@example.com/feed.json',
  'file:///feed.json',
  'feed',
])('%s is no place for a feed', async (feed) => {
  await expect(fetchFeed(feed)).rejects.toThrow('must be an https URL without credentials');
});
