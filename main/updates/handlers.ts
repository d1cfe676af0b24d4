import { join } from 'node:path';
import * as v from 'valibot';
import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { hasReason } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { ContractError, saidOf, say, type Handlers } from '../../core/contract/index.ts';
import { openJsonDocument, type Damage } from '../state/json-document.ts';
import type { NotificationHub } from '../state/notification-hub.ts';
import type { SettingsStore } from '../state/settings-store.ts';
import { createUpdateChecker } from './checker.ts';
import type { FetchedFeed } from './fetch-feed.ts';

const seenSchema = v.object({ sequences: v.record(v.string(), v.number()) });

export interface UpdateHandlerOptions {
  readonly dataDirectory: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: SettingsStore;
  readonly notifications: NotificationHub;
  readonly onDamage: (damage: Damage) => void;
  readonly fetch?: (feed: string) => Promise<FetchedFeed>;
}

/** What a page may ask about updates. */
export const createUpdateHandlers = (
  options: UpdateHandlerOptions,
): Disposable & { readonly handlers: Handlers } => {
  const { clock, fetch, log, notifications, settings, version } = options;
  const seen = openJsonDocument({
    path: join(options.dataDirectory, 'updates.json'),
    schema: seenSchema,
    initial: { sequences: {} },
    onDamage: options.onDamage,
  });
  const checker = createUpdateChecker({
    version,
    clock,
    log,
    settings: () => settings.read(),
    seen: {
      read: (feed) => seen.value.sequences[feed] ?? 0,
      // One feed at a time: the previous one is forgotten, so the file stays small.
      write: async (feed, sequence) => void (await seen.change(() => ({ sequences: { [feed]: sequence } }))),
    },
    onAvailable: (newest) =>
      notifications.post({
        severity: 'info',
        title: say('notice.update.available', { version: newest }),
        detail: say('notice.update.available.detail'),
      }),
    ...(fetch && { fetch }),
  });
  const check = async () => {
    try {
      return await checker.check();
    } catch (error) {
      if (!hasReason(error, 'BadFeed') && !hasReason(error, 'FeedUnreachable')) throw error;
      throw new ContractError(hasReason(error, 'BadFeed') ? 'BadRequest' : 'Unavailable', saidOf(error), {
        cause: error,
      });
    }
  };
  return { handlers: { 'updates.check': check }, dispose: () => checker.dispose() };
};
