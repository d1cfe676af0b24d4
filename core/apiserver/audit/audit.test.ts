import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Log } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { systemClock } from '../../base/node/clock.ts';
import { userInfo } from '../server/user.ts';
import { fakeContext } from '../server/testing/fake-context.ts';
import { startAudit } from './audit.ts';
import type { AuditDelivery, AuditMode, AuditSettings } from './settings.ts';

const POLICY = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n';
/** Every write to it fails as on a full disk. */
const FULL_DISK = '/dev/full';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const start = async (policy: string, path: string, mode: AuditMode) => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  folders.push(folder);
  const policyFile = join(folder, 'policy.yaml');
  writeFileSync(policyFile, policy);
  const delivery: AuditDelivery = {
    mode,
    bufferSize: 10,
    batchSizeMax: 1,
    batchWaitMs: 1,
    isThrottled: false,
    throttleQps: 0,
    throttleBurst: 0,
    isTruncated: false,
    truncateBatchBytes: 1024,
    truncateEventBytes: 1024,
  };
  const settings: AuditSettings = {
    policyFile,
    logFile: { path, ageDaysMax: 0, backupsMax: 0, sizeMibMax: 1, isCompressed: false, delivery },
    auditWebhook: { configFile: '', initialBackOffMs: 0, delivery },
  };
  const lines: string[] = [];
  const log: Log = { write: (_level, message) => void lines.push(message), with: () => log };
  const metrics = new Registry();
  const noWebhook = (): never => expect.unreachable('no webhook is configured');
  const audit = await startAudit({ settings, webhookClient: noWebhook, metrics, clock: systemClock, log });
  const ask = async (): Promise<unknown> => {
    const { context } = fakeContext({ url: '/api/v1/pods', method: 'POST', user: userInfo('ada') });
    try {
      return await audit!.stage.run(context);
    } catch (error) {
      return (error as Error).message;
    }
  };
  return { ask, close: () => audit!.close(), lines, metrics };
};

test.runIf(existsSync(FULL_DISK)).each<[AuditMode, RegExp]>([
  ['batch', /^next$/],
  ['blocking', /^next$/],
  ['blocking-strict', /failed to store audit event/],
])(
  'a full disk in mode %s: requests are answered as the mode says, and the log says what to do',
  async (mode, answer) => {
    const { ask, close, lines, metrics } = await start(POLICY, FULL_DISK, mode);
    expect(await ask()).toMatch(answer);
    await close();
    expect(lines).toEqual(['audit events cannot be written; free disk space or change --audit-log-path']);
    expect(metrics.expose()).toContain('apiserver_audit_error_total{plugin="log"} 1');
  },
);

test.each([
  ['empty', ''],
  ['cut off in the middle', POLICY.slice(0, -12)],
  ['not YAML', 'rules: [}'],
  ['of another kind', 'apiVersion: v1\nkind: ConfigMap\n'],
  ['with a level that does not exist', POLICY.replace('Metadata', 'Everything')],
])('a policy that is %s keeps the server from starting, with the name of the file', async (_what, policy) => {
  await expect(start(policy, '-', 'batch')).rejects.toThrow(/^--audit-policy-file .*policy\.yaml: ./);
});
