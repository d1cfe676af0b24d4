import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { silentLog } from '../../base/log.ts';
import type { Clock } from '../../base/clock.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { systemClock } from '../../base/node/clock.ts';
import { Registry } from '../../base/metrics/index.ts';
import { userInfo } from '../server/user.ts';
import { fakeContext } from '../server/testing/fake-context.ts';
import { startTestWebhook, type Respond, type TestWebhook } from '../webhook/testing/webhook-server.ts';
import { createWebhookClient } from '../webhook/webhook-client.ts';
import { startAudit, type Audit } from './audit.ts';
import type { AuditMode, AuditSettings } from './settings.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Real time passes where the webhook answers; where it hangs, a manual clock does not wait for its timeouts. */
const BACK_OFF_MS = 1;
const DELIVERY = {
  bufferSize: 10,
  batchSizeMax: 3,
  batchWaitMs: 20,
  isThrottled: false,
  throttleQps: 0,
  throttleBurst: 0,
  isTruncated: false,
  truncateBatchBytes: 1024,
  truncateEventBytes: 1024,
};

interface Started {
  readonly audit: Audit;
  readonly clock: Clock & Partial<Pick<ReturnType<typeof manualClock>, 'advance'>>;
  readonly metrics: Registry;
  readonly webhook: TestWebhook;
  /** What arrived, one list of audit stages for each post. */
  readonly posts: string[][];
}

const start = async (
  mode: AuditMode,
  respond: Respond,
  clock: Started['clock'] = respond === hang ? manualClock() : systemClock,
): Promise<Started> => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-webhook-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const posts: string[][] = [];
  const webhook = await startTestWebhook((body, response, request) => {
    const { kind, items } = JSON.parse(body) as { kind: string; items: { stage: string }[] };
    posts.push([kind, ...items.map(({ stage }) => stage)]);
    return respond(body, response, request);
  });
  closing.push(() => webhook.close());
  const [policyFile, configFile] = [join(folder, 'policy.yaml'), join(folder, 'webhook.kubeconfig')];
  writeFileSync(policyFile, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n');
  writeFileSync(
    configFile,
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'audit',
      contexts: [{ name: 'audit', context: { cluster: 'audit', user: 'audit' } }],
      clusters: [
        {
          name: 'audit',
          cluster: { server: webhook.url('/events'), 'certificate-authority-data': webhook.caBundle },
        },
      ],
      users: [{ name: 'audit', user: {} }],
    }),
  );
  const metrics = new Registry();
  const client = createWebhookClient({ clock, resolve: () => Promise.reject(new Error('no services')) });
  closing.push(() => client.dispose());
  const logFile = { path: '', ageDaysMax: 0, backupsMax: 0, sizeMibMax: 1, isCompressed: false };
  const settings: AuditSettings = {
    policyFile,
    logFile: { ...logFile, delivery: { ...DELIVERY, mode } },
    auditWebhook: { configFile, initialBackOffMs: BACK_OFF_MS, delivery: { ...DELIVERY, mode } },
  };
  const audit = await startAudit({ settings, webhookClient: () => client, metrics, clock, log: silentLog });
  return { audit: audit!, clock, metrics, webhook, posts };
};

/** Time passes until the work is done: retries and timeouts of a webhook take minutes of it. */
const whileTimePasses = async <T>(clock: Started['clock'], work: Promise<T>): Promise<T> => {
  let isDone = false;
  void work.then(
    () => (isDone = true),
    () => (isDone = true),
  );
  while (!isDone) {
    clock.advance?.(250);
    await turn();
  }
  return work;
};

const request = () =>
  fakeContext({ url: '/api/v1/namespaces/a/pods', method: 'POST', user: userInfo('ada') }).context;
const accept: Respond = (_body, response) => void response.writeHead(200).end();
const refuse =
  (code: number): Respond =>
  (_body, response) =>
    void response.writeHead(code).end();
const hang: Respond = () => undefined;
const die: Respond = (_body, response) => void response.destroy();
const errorsOf = ({ metrics }: Started): string | undefined =>
  /apiserver_audit_error_total\{plugin="webhook"\} (\d+)/.exec(metrics.expose())?.[1];

/** The stage lets a request in, or says why not. */
const outcomeOf = async ({ audit, clock }: Started): Promise<unknown> =>
  whileTimePasses(
    clock,
    Promise.resolve().then(() => audit.stage.run(request())),
  ).catch((error: Error) => error.message);

test('batch: events of several requests are sent together, and no request waits', async () => {
  const started = await start('batch', accept);
  const { audit, posts } = started;
  for (let count = 0; count < 3; count += 1) expect(audit.stage.run(request())).toBe('next');
  await expect
    .poll(() => posts)
    .toEqual([['EventList', 'RequestReceived', 'RequestReceived', 'RequestReceived']]);
  expect(audit.stage.run(request())).toBe('next');
  await expect.poll(() => posts.length).toBe(2);
  await audit.close();
});

test('batch: a webhook that hangs delays no request, and the server stops without it', async () => {
  const started = await start('batch', hang);
  const { audit, clock, posts } = started;
  for (let count = 0; count < 20; count += 1) expect(audit.stage.run(request())).toBe('next');
  await expect.poll(() => posts.length).toBe(1);
  // Ten are in the buffer, three of them on their way: the rest is dropped and counted.
  expect(started.metrics.expose()).toContain('apiserver_audit_error_total{plugin="buffered"}');
  await whileTimePasses(clock, audit.close());
});

test.each<[string, Respond, number | undefined]>([
  ['is broken', refuse(503), 5],
  ['dies', die, 5],
  ['rejects events', refuse(400), 1],
  // The manual clock may time a post out before it has arrived.
  ['hangs', hang, undefined],
])('blocking: requests wait for a webhook that %s, and continue', async (_what, respond, attempts) => {
  const started = await start('blocking', respond);
  expect(await outcomeOf(started)).toBe('next');
  expect(errorsOf(started)).toBe('1');
  if (attempts !== undefined) expect(started.posts.length).toBe(attempts);
});

test.each<[string, Respond]>([
  ['is broken', refuse(503)],
  ['dies', die],
  ['hangs', hang],
  ['rejects events', refuse(400)],
])('blocking-strict: a request fails while the webhook %s', async (_what, respond) => {
  const started = await start('blocking-strict', respond);
  expect(await outcomeOf(started)).toContain('failed to store audit event');
});

test('blocking-strict: a request continues once the webhook has taken its event', async () => {
  let count = 0;
  const started = await start('blocking-strict', (body, response, incoming) => {
    count += 1;
    return (count < 3 ? refuse(500) : accept)(body, response, incoming);
  });
  expect([await outcomeOf(started), started.posts.length]).toEqual(['next', 3]);
});

test('a webhook that comes back gets the events that come then', async () => {
  let respond: Respond = die;
  const started = await start('blocking', (body, response, incoming) => respond(body, response, incoming));
  await outcomeOf(started);
  respond = accept;
  expect([await outcomeOf(started), errorsOf(started)]).toEqual(['next', '1']);
});
