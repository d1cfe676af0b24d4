import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Registry as Metrics } from '../../base/metrics/index.ts';
import type { WebhookClient } from '../webhook/webhook-client.ts';
import { createAuditStages, type AuditStages } from './audit-stage.ts';
import { batched, ignoringFailures, joined } from './batch.ts';
import { truncated, type AuditBackend } from './event.ts';
import { createLogFile } from './log-file.ts';
import { createPolicyEvaluator, parseAuditPolicy } from './policy.ts';
import type { AuditDelivery, AuditSettings } from './settings.ts';
import { createWebhookBackend, loadWebhookTarget } from './webhook.ts';

export interface Audit extends AuditStages {
  close(): Promise<void>;
}

export interface AuditParts {
  readonly settings: AuditSettings;
  /** Called when a webhook is configured; the caller disposes of it. */
  readonly webhookClient: () => WebhookClient;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

const withTruncation = (
  backend: AuditBackend,
  delivery: AuditDelivery,
  onFailed: (count: number) => void,
): AuditBackend =>
  delivery.isTruncated
    ? {
        process(events) {
          const kept = events.flatMap((event) => truncated(event, delivery.truncateEventBytes) ?? []);
          if (kept.length < events.length) onFailed(events.length - kept.length);
          return kept.length === 0 ? true : backend.process(kept);
        },
        close: () => backend.close(),
      }
    : backend;

/** Undefined without a policy or a backend: nothing is audited, as upstream. */
export const startAudit = async (parts: AuditParts): Promise<Audit | undefined> => {
  const { settings, metrics, clock, log } = parts;
  const { policyFile, logFile, auditWebhook } = settings;
  if (policyFile === '') {
    if (logFile.path !== '' || auditWebhook.configFile !== '')
      log.write('warn', 'no audit policy file provided, no events will be recorded');
    return undefined;
  }
  const policy = await readFile(policyFile, 'utf8')
    .then(parseAuditPolicy)
    .catch((cause: unknown) => {
      throw new ReasonError('BadConfiguration', `--audit-policy-file ${policyFile}: ${messageOf(cause)}`, {
        cause,
      });
    });
  const errors = metrics.counterFamily({
    name: 'apiserver_audit_error_total',
    help: 'Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.',
    labels: ['plugin'],
  });
  const failed = (plugin: string) => (count: number) => errors.labels(plugin).inc(count);
  const delivered = (backend: AuditBackend, delivery: AuditDelivery): AuditBackend => {
    if (delivery.mode === 'blocking-strict') return backend;
    if (delivery.mode === 'blocking') return ignoringFailures(backend);
    return batched(backend, {
      bufferSize: delivery.bufferSize,
      batchSizeMax: delivery.batchSizeMax,
      waitMs: delivery.batchWaitMs,
      throttleQps: delivery.isThrottled ? delivery.throttleQps : 0,
      throttleBurst: delivery.throttleBurst,
      clock,
      onDropped: failed('buffered'),
    });
  };
  const backends: AuditBackend[] = [];
  if (logFile.path !== '') {
    const { path, ageDaysMax, backupsMax, sizeMibMax, isCompressed, delivery } = logFile;
    const limits = { ageDaysMax, backupsMax, sizeMibMax, isCompressed };
    const backend = createLogFile({ path, ...limits, clock, log, onFailed: failed('log') });
    backends.push(delivered(withTruncation(backend, delivery, failed('truncate')), delivery));
  }
  if (auditWebhook.configFile !== '') {
    const { delivery, configFile, initialBackOffMs } = auditWebhook;
    const backend = createWebhookBackend({
      target: await loadWebhookTarget(configFile),
      client: parts.webhookClient(),
      initialBackOffMs,
      truncate: delivery.isTruncated
        ? { eventBytesMax: delivery.truncateEventBytes, batchBytesMax: delivery.truncateBatchBytes }
        : undefined,
      clock,
      log,
      onFailed: failed('webhook'),
    });
    backends.push(delivered(backend, delivery));
  }
  if (backends.length === 0) return undefined;
  const backend = joined(backends);
  const stages = createAuditStages({ evaluate: createPolicyEvaluator(policy), backend, metrics, clock });
  return { ...stages, close: () => backend.close() };
};
