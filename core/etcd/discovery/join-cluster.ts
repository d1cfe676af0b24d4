import type { Clock } from '../../base/clock.ts';
import { hasReason, messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { parseInitialCluster } from '../membership/index.ts';

const PREFIX = '/_etcd/registry';
/** How often a member that has registered looks who else has. */
const LOOK_EVERY_MS = 1000;
const BACKOFF_MIN_MS = 1000;
const BACKOFF_MAX_MS = 64_000;

export interface Registered {
  readonly key: string;
  readonly value: string;
  readonly createRevision: number;
}

/** What is asked of the discovery service; rejects with Unreachable when another try may help. */
export interface DiscoveryStore {
  get(key: string): Promise<string | undefined>;
  list(prefix: string): Promise<readonly Registered[]>;
  put(key: string, value: string): Promise<void>;
}

export interface JoinOptions {
  readonly store: DiscoveryStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly token: string;
  /** This member's, as hex. */
  readonly id: string;
  /** `name=peerURL,...` of this member. */
  readonly self: string;
}

export type DiscoveryFailure = 'SizeNotFound' | 'BadSize' | 'FullCluster' | 'InvalidUrl';

const failure = (reason: DiscoveryFailure, message: string): ReasonError =>
  new ReasonError(reason, `discovery: ${message}`);

/**
 * Registers this member and waits until the cluster is complete. Resolves to what `--initial-cluster` would say, the
 * same for every member. Waits while the service is unreachable; a token without a size and a full cluster fail.
 */
export const joinCluster = async (options: JoinOptions): Promise<string> => {
  const { store, log, token, id, self } = options;
  const root = `${PREFIX}/${token}`;
  const members = `${root}/members/`;
  const ownKey = `${members}${id}`;
  const size = readSize(
    await answered(options, 'cluster status check', () => store.get(`${root}/_config/size`)),
  );
  const look = async (): Promise<readonly Registered[]> =>
    founders(await answered(options, 'cluster status check', () => store.list(members)), size, ownKey);

  await look();
  await answered(options, 'register member itself', () => store.put(ownKey, self));
  log.write('info', 'register member itself successfully', { memberKey: ownKey, memberInfo: self });
  let seen = -1;
  for (;;) {
    const found = await look();
    if (found.length >= size) return initialCluster(found);
    if (found.length !== seen)
      log.write('info', 'waiting for peers from discovery service', {
        clusterSize: size,
        'found-peers': found.length,
      });
    seen = found.length;
    await pause(options.clock, LOOK_EVERY_MS);
  }
};

const readSize = (text: string | undefined): number => {
  if (text === undefined) throw failure('SizeNotFound', 'size key not found');
  const size = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (size === 0) throw failure('BadSize', 'size key is bad');
  return size;
};

/** The first `size` by create revision; fails where this member cannot be among them any more. */
const founders = (registered: readonly Registered[], size: number, ownKey: string): readonly Registered[] => {
  const first = registered
    .filter(({ value }) => value.includes('='))
    .sort((a, b) => a.createRevision - b.createRevision)
    .slice(0, size);
  if (first.length === size && !first.some(({ key }) => key === ownKey))
    throw failure('FullCluster', 'cluster is full');
  return first;
};

const initialCluster = (found: readonly Registered[]): string => {
  const text = found.map(({ value }) => value.trim()).join(',');
  try {
    parseInitialCluster(text);
  } catch (error) {
    throw failure('InvalidUrl', `invalid peer URL: ${messageOf(error)}`);
  }
  return text;
};

/** Asks until the service is reachable, ever more rarely. */
const answered = async <T>(
  { clock, log }: JoinOptions,
  reason: string,
  ask: () => Promise<T>,
): Promise<T> => {
  for (let backoffMs = BACKOFF_MIN_MS; ; backoffMs = Math.min(2 * backoffMs, BACKOFF_MAX_MS)) {
    try {
      return await ask();
    } catch (error) {
      // A wrong certificate or password stays wrong.
      if (!hasReason(error, 'Unreachable')) throw error;
      log.write('warn', 'retry connecting to discovery service', {
        reason,
        error: messageOf(error),
        backoff: `${backoffMs / 1000}s`,
      });
    }
    await pause(clock, backoffMs);
  }
};

const pause = (clock: Clock, delayMs: number): Promise<void> =>
  new Promise((resolve) => clock.after(delayMs, resolve));
