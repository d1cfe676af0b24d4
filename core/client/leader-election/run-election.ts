import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Client } from '../client.ts';
import { pause } from '../rest/pause.ts';
import { UnansweredWrites } from '../rest/unanswered-writes.ts';
import { Candidate, type Attempt } from './candidate.ts';
import { electionMetrics } from './election-metrics.ts';
import type { ElectionEnd, ElectionOptions } from './election.ts';
import { transitionsOf } from './lease-record.ts';
import { Tenure } from './tenure.ts';

const LEASE_DURATION_SECONDS = 15;
const RENEW_DEADLINE_SECONDS = 10;
const RETRY_PERIOD_SECONDS = 2;
const JITTER_FACTOR = 1.2;
/**
 * Who waits and cannot watch the lease looks at it after a quarter to a half of the retry period. Upstream waits up to 2.2
 * periods, and so leaves a lease that was given up without a holder for as long.
 */
const LOOK_FACTOR = 0.25;
/** In retry periods: a holder that has not been heard of for as long is looked at, in case the watch is what is dead. */
const SILENCE_FACTOR = 1 + JITTER_FACTOR;
/**
 * How long the lease is kept from others while the work winds up and what it has sent is answered; new requests are
 * refused meanwhile. No longer than the tenure would have lasted.
 */
const WIND_UP_MS_MAX = 5_000;

type Held = Extract<Attempt, { outcome: 'held' }>;

/**
 * Stands for the lease until it is won, then leads. Resolves with `stopped` when `stop` is aborted, with `lost` when
 * the lease could not be kept, with `finished` when the work ended on its own; rejects only with what the work threw.
 */
export const runElection = async (options: ElectionOptions, stop: AbortSignal): Promise<ElectionEnd> => {
  const {
    leaseDurationSeconds = LEASE_DURATION_SECONDS,
    renewDeadlineSeconds = RENEW_DEADLINE_SECONDS,
    retryPeriodSeconds = RETRY_PERIOD_SECONDS,
  } = options;
  assert(leaseDurationSeconds > renewDeadlineSeconds, 'leaseDuration must be greater than renewDeadline');
  assert(
    renewDeadlineSeconds > JITTER_FACTOR * retryPeriodSeconds,
    'renewDeadline must be greater than retryPeriod*JitterFactor',
  );
  const metrics = options.registry && electionMetrics(options.registry, options.lease.name);
  metrics?.status.set(0);
  const candidate = new Candidate(options, { identity: options.identity, leaseDurationSeconds }, metrics);
  const timing = { renewDeadlineMs: renewDeadlineSeconds * 1000, retryPeriodMs: retryPeriodSeconds * 1000 };
  const held = await acquire(candidate, options, timing, stop);
  if (!held) return 'stopped';
  metrics?.status.set(1);
  try {
    return await lead(candidate, held, options, timing, stop);
  } finally {
    metrics?.status.set(0);
  }
};

interface Timing {
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

const acquire = async (
  candidate: Candidate,
  { clock, random }: ElectionOptions,
  { renewDeadlineMs, retryPeriodMs }: Timing,
  stop: AbortSignal,
): Promise<Held | undefined> => {
  while (!stop.aborted) {
    const attempt = await candidate.attempt({ signal: stop, timeoutMs: renewDeadlineMs / 2 });
    if (attempt.outcome === 'held') return attempt;
    if (attempt.outcome === 'other' && (await candidate.follow(retryPeriodMs * SILENCE_FACTOR, stop)))
      continue;
    const pauseMs = retryPeriodMs * LOOK_FACTOR * (1 + random.next());
    await pause(clock, pauseMs, stop).catch(() => undefined);
  }
  return undefined;
};

const lead = async (
  candidate: Candidate,
  held: Held,
  options: ElectionOptions,
  timing: Timing,
  stop: AbortSignal,
): Promise<ElectionEnd> => {
  const { clock, identity, log, lease } = options;
  const tenure = new Tenure(clock, timing.renewDeadlineMs, held.sent);
  tenure.check();
  log.write('info', 'became leader', { lease: lease.name, identity, transitions: transitionsOf(held.lease) });
  let end: ElectionEnd | undefined;
  let failure: { readonly error: unknown } | undefined;
  const writes = new UnansweredWrites();
  const onOver = (): void => {
    if (end !== undefined) return;
    end = 'lost';
    writes.end(tenure.signal.reason);
  };
  if (tenure.signal.aborted) onOver();
  tenure.signal.addEventListener('abort', onOver, { once: true });
  const fence = (client: Client): Client =>
    client.fenced(tenure.signal, { check: () => tenure.check(), writes });
  const work = options
    .lead({
      identity,
      transitions: transitionsOf(held.lease),
      signal: tenure.signal,
      client: fence(options.client),
      fence,
      settled: () => writes.settled(),
    })
    .catch((error: unknown) => {
      if (!tenure.signal.aborted) failure = { error };
    })
    .then(() => {
      if (!tenure.signal.aborted) end ??= 'finished';
      tenure.end('the work is done');
    });
  const onStop = (): void => {
    tenure.check();
    end ??= 'stopped';
    tenure.end('the election was stopped');
  };
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  await renew(candidate, tenure, options, timing);
  stop.removeEventListener('abort', onStop);
  const isGivenUp = end !== 'lost' && (options.releaseOnStop ?? true);
  const windUpMsMax = end === 'lost' ? WIND_UP_MS_MAX : Math.min(WIND_UP_MS_MAX, tenure.leftMs);
  await within(windUpMsMax, clock, Promise.all([work, writes.settled()]));
  const unanswered = writes.count;
  if (unanswered > 0) writes.end(tenure.signal.reason);
  if (isGivenUp && unanswered === 0) await release(candidate, options, timing);
  // The server may do them yet: the next leader waits the lease out.
  else if (isGivenUp)
    log.write('warn', 'not releasing the lease: requests are still pending', {
      lease: lease.name,
      unanswered,
    });
  log.write(end === 'lost' ? 'warn' : 'info', 'stopped leading', { lease: lease.name, identity, end });
  if (failure) throw failure.error;
  return end ?? 'lost';
};

const within = async (durationMs: number, clock: Clock, work: Promise<unknown>): Promise<void> => {
  const done = new AbortController();
  const waited = pause(clock, durationMs, done.signal).catch(() => undefined);
  await Promise.race([work, waited]);
  done.abort();
};

/** Until the tenure is over. */
const renew = async (
  candidate: Candidate,
  tenure: Tenure,
  { clock }: ElectionOptions,
  { retryPeriodMs }: Timing,
): Promise<void> => {
  const { signal } = tenure;
  while (!signal.aborted) {
    await pause(clock, retryPeriodMs, signal).catch(() => undefined);
    tenure.check();
    if (signal.aborted) return;
    const attempt = await candidate.attempt({ signal, timeoutMs: tenure.leftMs });
    if (attempt.outcome === 'held') tenure.renewed(attempt.sent);
    else if (attempt.outcome === 'other') tenure.end('the lease is held by another candidate');
  }
};

const release = async (
  candidate: Candidate,
  { log, lease }: ElectionOptions,
  { renewDeadlineMs }: Timing,
): Promise<void> => {
  try {
    await candidate.release({ timeoutMs: renewDeadlineMs / 2 });
  } catch (error) {
    // The next leader waits the lease out instead.
    log.write('warn', 'failed to release the lease', { lease: lease.name, error: messageOf(error) });
  }
};
