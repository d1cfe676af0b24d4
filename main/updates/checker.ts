import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { messageOf } from '../../core/base/errors.ts';
import { every } from '../../core/base/every.ts';
import type { Log } from '../../core/base/log.ts';
import type { Settings, UpdateReport } from '../../core/contract/index.ts';
import { newerReleases, openFeed } from './feed.ts';
import { fetchFeed, type FetchedFeed } from './fetch-feed.ts';

/** After the start of the app, so that it competes with nothing a person waits for. */
const FIRST_CHECK_AFTER_MS = 60_000;
const CHECK_EVERY_MS = 24 * 60 * 60_000;

export interface UpdateCheckerOptions {
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  settings(): Settings;
  /** The highest sequence that was accepted from a feed; kept across starts. */
  readonly seen: { read(feed: string): number; write(feed: string, sequence: number): Promise<void> };
  /** Once for each version. */
  onAvailable(version: string): void;
  readonly fetch?: (feed: string) => Promise<FetchedFeed>;
}

export interface UpdateChecker extends Disposable {
  check(): Promise<UpdateReport>;
}

/** Checks when asked, and once a day while the settings name a feed. Never downloads or installs anything. */
export const createUpdateChecker = (options: UpdateCheckerOptions): UpdateChecker => {
  const { clock, fetch = fetchFeed, log, seen, version } = options;
  let told: string | undefined;

  const check = async (): Promise<UpdateReport> => {
    const { updateFeed, updateKey } = options.settings();
    if (updateFeed === '') return { state: 'off', current: version, releases: [] };
    const { bytes, signature } = await fetch(updateFeed);
    const seenSequence = seen.read(updateFeed);
    const feed = openFeed({ bytes, signature, publicKey: updateKey, nowMs: clock.nowMs(), seenSequence });
    if (feed.sequence > seenSequence) await seen.write(updateFeed, feed.sequence);
    const releases = newerReleases(feed, version).map(({ version: name, date, notes, files }) => {
      const own = files.filter(
        ({ platform, arch }) => platform === process.platform && arch === process.arch,
      );
      return {
        version: name,
        date,
        notes,
        files: own.map(({ url, sha256, bytes: size }) => ({ url, sha256, bytes: size })),
      };
    });
    const newest = releases[0]?.version;
    if (newest !== undefined && newest !== told) options.onAvailable((told = newest));
    return { state: newest === undefined ? 'current' : 'available', current: version, releases };
  };

  let isFirst = true;
  const pauseMs = (): number => {
    const pause = isFirst ? FIRST_CHECK_AFTER_MS : CHECK_EVERY_MS;
    isFirst = false;
    return pause;
  };
  const daily = every(clock, pauseMs, async () => {
    await check().catch((error: unknown) =>
      log.write('warn', 'failed to check for updates', { error: messageOf(error) }),
    );
  });

  return { check, dispose: () => daily.dispose() };
};
