import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../core/pki/index.ts';
import { createNotificationHub } from '../../main/state/notification-hub.ts';
import { createSettingsStore } from '../../main/state/settings-store.ts';
import { fetchFeed } from '../../main/updates/fetch-feed.ts';
import { createUpdateHandlers } from '../../main/updates/handlers.ts';
import { makeKey, signedFeed } from '../../resources/setup/feed.mjs';

// A feed as `npm run feed` writes it, on a web server of this machine, read by the handlers of the app.

const folder = mkdtempSync(join(tmpdir(), 'pilothouse-feed-'));
const files = new Map<string, string | Buffer>();
let server: Server;
let base: string;
let ca: string;
let key: string;
let publicKey: string;

beforeAll(async () => {
  const clock = systemClock;
  const pair = createAuthority({ commonName: 'feed', clock });
  ca = pair.certificatePem;
  const leaf = issueLeaf(openAuthority(pair), {
    subject: { commonName: '127.0.0.1' },
    usages: ['server'],
    alternativeNames: alternativeNames(['127.0.0.1']),
    clock,
  });
  server = createServer({ cert: leaf.certificatePem, key: leaf.privateKeyPem }, (request, response) => {
    const found = files.get(request.url ?? '');
    if (found === undefined) response.writeHead(404).end();
    else if (found === '') response.writeHead(302, { location: '/feed.json' }).end();
    else response.end(found);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  publicKey = makeKey(join(folder, 'key.pem'));
  key = readFileSync(join(folder, 'key.pem'), 'utf8');
});
afterAll(async () => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

const publish = (name: string, nowMs: number): void => {
  const deb = join(folder, 'pilothouse_9.0.0_amd64.deb');
  writeFileSync(deb, 'a package');
  const releases = [{ version: '9.0.0', date: '2026-11-18', notes: '### Added\n\n- More.' }];
  const { bytes, signature } = signedFeed({ key, base, files: [deb], version: '9.0.0', releases, nowMs });
  files.set(`/${name}`, bytes).set(`/${name}.sig`, signature);
};

const openHandlers = async (feed: string, updateKey = publicKey) => {
  const dataDirectory = mkdtempSync(join(folder, 'data-'));
  const onDamage = (): void => undefined;
  const settings = createSettingsStore({ dataDirectory, onDamage });
  await settings.write({ updateFeed: `${base}${feed}`, updateKey });
  const notifications = createNotificationHub(systemClock);
  const { handlers, dispose } = createUpdateHandlers({
    dataDirectory,
    version: '0.2.0',
    clock: systemClock,
    log: silentLog,
    settings,
    notifications,
    onDamage,
    fetch: (url) => fetchFeed(url, ca),
  });
  const check = () => handlers['updates.check']!(undefined, new AbortController().signal);
  const close = (): void => {
    dispose();
    settings.dispose();
    notifications.dispose();
  };
  return { check, close };
};

test('a signed feed on a web server offers a newer version with its changelog', async () => {
  publish('feed.json', Date.now());
  const { check, close } = await openHandlers('feed.json');
  const report = await check();
  expect([report.state, report.current, report.releases[0]?.version, report.releases[0]?.notes]).toEqual([
    'available',
    '0.2.0',
    '9.0.0',
    '### Added\n\n- More.',
  ]);
  if (process.platform === 'linux' && process.arch === 'x64')
    expect(report.releases[0]?.files[0]?.url).toBe(`${base}pilothouse_9.0.0_amd64.deb`);
  // An old copy of the feed, signed as well, is not taken for the newest.
  publish('feed.json', Date.now() - 3_600_000);
  await expect(check()).rejects.toThrow('is older');
  close();
});

test('a feed of another key, a changed one, a missing one and a redirect are rejected in one line', async () => {
  publish('other.json', Date.now());
  const failureOf = async (feed: string, updateKey?: string): Promise<unknown> => {
    const { check, close } = await openHandlers(feed, updateKey);
    const failure: unknown = await check().catch((error: unknown) => error);
    close();
    return (failure as { reason?: string }).reason;
  };
  const otherKey = makeKey(join(folder, 'other.pem'));
  files.set('/changed.json', '{}').set('/changed.json.sig', String(files.get('/other.json.sig')));
  files.set('/moved.json', '').set('/moved.json.sig', '');
  expect([
    await failureOf('other.json', otherKey),
    await failureOf('changed.json'),
    await failureOf('missing.json'),
    await failureOf('moved.json'),
  ]).toEqual(['BadRequest', 'BadRequest', 'Unavailable', 'Unavailable']);
});
