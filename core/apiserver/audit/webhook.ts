import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Clock } from '../../base/clock.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isJsonObject } from '../../api/meta/index.ts';
import { WebhookCallError, type WebhookClient } from '../webhook/webhook-client.ts';
import type { WebhookTarget } from '../webhook/target.ts';
import { truncated, type AuditBackend, type EncodedEvent } from './event.ts';

/** Upstream's: five attempts, each half again as long after the one before. */
const ATTEMPTS_MAX = 5;
const BACK_OFF_FACTOR = 1.5;
const TIMEOUT_MS = 30_000;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});
const textOf = (fields: Fields, name: string): string | undefined => {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

const entryOf = (config: Fields, list: string, name: string | undefined, field: string): Fields => {
  const entries = Array.isArray(config[list]) ? (config[list] as unknown[]).map(fieldsOf) : [];
  const found = name === undefined ? entries[0] : entries.find((entry) => entry['name'] === name);
  if (!found)
    throw new ReasonError('BadConfiguration', `has no entry ${JSON.stringify(name ?? '')} in ${list}`);
  return fieldsOf(found[field]);
};

/** A kubeconfig that names the webhook: its URL and authority, and how this server proves who it is. */
export const loadWebhookTarget = async (file: string): Promise<WebhookTarget> => {
  try {
    const config = fieldsOf(parse(await readFile(file, 'utf8')));
    const context = entryOf(config, 'contexts', textOf(config, 'current-context'), 'context');
    const cluster = entryOf(config, 'clusters', textOf(context, 'cluster'), 'cluster');
    const user =
      textOf(context, 'user') === undefined ? {} : entryOf(config, 'users', textOf(context, 'user'), 'user');
    const folder = dirname(resolve(file));
    const pem = async (fields: Fields, name: string): Promise<string | undefined> => {
      const data = textOf(fields, `${name}-data`);
      if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
      const path = textOf(fields, name);
      return path === undefined ? undefined : readFile(resolve(folder, path), 'utf8');
    };
    const url = textOf(cluster, 'server');
    if (url === undefined || !url.startsWith('https://'))
      throw new ReasonError(
        'BadConfiguration',
        'clusters[].cluster.server must be a URL that begins with https://',
      );
    const authority = await pem(cluster, 'certificate-authority');
    return {
      url,
      caBundle: authority && Buffer.from(authority).toString('base64'),
      credentials: {
        certPem: await pem(user, 'client-certificate'),
        keyPem: await pem(user, 'client-key'),
        bearerToken: textOf(user, 'token'),
      },
    };
  } catch (cause) {
    throw new ReasonError('BadConfiguration', `--audit-webhook-config-file ${file}: ${messageOf(cause)}`, {
      cause,
    });
  }
};

export interface WebhookBackendOptions {
  readonly target: WebhookTarget;
  readonly client: WebhookClient;
  readonly initialBackOffMs: number;
  /** Absent: events are sent whole. */
  readonly truncate?: { readonly eventBytesMax: number; readonly batchBytesMax: number } | undefined;
  readonly clock: Clock;
  readonly log: Log;
  onFailed?(count: number): void;
}

/** Rejections that asking again can change: no answer, or one that says the webhook is busy or broken. */
const isWorthRetrying = (error: unknown): boolean =>
  error instanceof WebhookCallError &&
  !error.isCanceled &&
  (error.status === undefined || error.status.code >= 500 || error.status.code === 429);

/** Sends events as an EventList, again with growing pauses while the webhook does not take them. */
export const createWebhookBackend = (options: WebhookBackendOptions): AuditBackend => {
  const { target, client, clock, log, truncate } = options;
  const closing = new AbortController();

  const post = async (items: readonly EncodedEvent[]): Promise<boolean> => {
    const list = {
      kind: 'EventList',
      apiVersion: 'audit.k8s.io/v1',
      metadata: {},
      items: items.map(({ event }) => event),
    };
    let pauseMs = options.initialBackOffMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await client.post(target, list, {
          timeoutMs: TIMEOUT_MS,
          signal: closing.signal,
          isBodyIgnored: true,
        });
        return true;
      } catch (error) {
        if (attempt < ATTEMPTS_MAX && isWorthRetrying(error)) {
          const delayMs = pauseMs;
          await new Promise<void>((done) => void clock.after(delayMs, done));
          pauseMs *= BACK_OFF_FACTOR;
          continue;
        }
        options.onFailed?.(items.length);
        log.write('error', 'the audit webhook did not take events', {
          events: items.length,
          error: messageOf(error),
        });
        return false;
      }
    }
  };

  const batchesOf = (events: readonly EncodedEvent[]): readonly (readonly EncodedEvent[])[] => {
    if (!truncate) return [events];
    const batches: EncodedEvent[][] = [[]];
    let bytes = 0;
    for (const one of events) {
      const event = truncated(one, truncate.eventBytesMax);
      if (!event) {
        options.onFailed?.(1);
        continue;
      }
      if (bytes + event.json.length > truncate.batchBytesMax && batches.at(-1)!.length > 0) {
        batches.push([]);
        bytes = 0;
      }
      batches.at(-1)!.push(event);
      bytes += event.json.length;
    }
    return batches.filter(({ length }) => length > 0);
  };

  return {
    async process(events) {
      let isStored = true;
      for (const batch of batchesOf(events)) isStored = (await post(batch)) && isStored;
      return isStored;
    },
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };
};
