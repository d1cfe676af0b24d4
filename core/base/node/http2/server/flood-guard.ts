import { H2_ERROR } from '../frame.ts';
import { breach } from './protocol-breach.ts';

/** Above this many a second, beyond what the peer's calls explain, it is an attack and not a client. */
const CHEAP_FRAMES_PER_SECOND_MAX = 5000;
/** As grpc-go counts them: two early pings are forgiven. */
const PING_STRIKES_MAX = 2;
/** A connection without a call has nothing to keep alive. */
const IDLE_PING_INTERVAL_MIN_MS = 2 * 60 * 60 * 1000;
/** For each piece of data a client gives window back twice; grpc-go measures the path with a ping, and may reset too. */
const CHEAP_FRAMES_PER_ANSWER = 4;
/** Requests that a client breaks off before they are answered: so many at a time, and so many a second after that. */
const RESETS_BURST_MAX = 1000;
const RESETS_PER_SECOND_MAX = 100;
const SECOND_MS = 1000;

/**
 * Counts frames that cost us work and the peer nothing: pings, settings, window updates, resets, continuations, empty
 * data (CVE-2019-9512 and its kin, CVE-2023-44487, CVE-2025-8671).
 */
export class FloodGuard {
  readonly #nowMs: () => number;
  readonly #pingIntervalMinMs: number;
  #count = 0;
  #sinceMs = 0;
  #lastPingMs = -Infinity;
  #pingStrikes = 0;
  #resets = 0;
  #resetsAtMs = 0;

  /** Pings that come faster than `pingIntervalMinMs` without a reason are counted; 0 counts none. */
  constructor(nowMs: () => number, pingIntervalMinMs = 0) {
    this.#nowMs = nowMs;
    this.#pingIntervalMinMs = pingIntervalMinMs;
  }

  /** Throws ProtocolBreach where grpc-go's enforcement policy would send the client away. */
  ping(openStreams: number): void {
    if (this.#pingIntervalMinMs === 0) return;
    const nowMs = this.#nowMs();
    const intervalMinMs =
      openStreams > 0
        ? this.#pingIntervalMinMs
        : Math.max(this.#pingIntervalMinMs, IDLE_PING_INTERVAL_MIN_MS);
    const isEarly = nowMs - this.#lastPingMs < intervalMinMs;
    this.#lastPingMs = nowMs;
    this.#pingStrikes = isEarly ? this.#pingStrikes + 1 : 0;
    if (this.#pingStrikes > PING_STRIKES_MAX) throw breach('too_many_pings', H2_ERROR.enhanceYourCalm);
  }

  /** Throws ProtocolBreach when it is too much. */
  cheapFrame(): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#sinceMs > SECOND_MS) {
      this.#sinceMs = nowMs;
      this.#count = 0;
    }
    this.#count += 1;
    if (this.#count > CHEAP_FRAMES_PER_SECOND_MAX)
      throw breach('too many control frames', H2_ERROR.enhanceYourCalm);
  }

  /** A request was begun and then given up through the peer's doing. False when it is too much. */
  brokenOff(): boolean {
    const nowMs = this.#nowMs();
    const forgiven = ((nowMs - this.#resetsAtMs) / SECOND_MS) * RESETS_PER_SECOND_MAX;
    this.#resets = Math.max(0, this.#resets - forgiven) + 1;
    this.#resetsAtMs = nowMs;
    return this.#resets <= RESETS_BURST_MAX;
  }

  /** We sent data: real work continues. */
  answered(): void {
    this.#count = Math.max(0, this.#count - CHEAP_FRAMES_PER_ANSWER);
    this.#pingStrikes = 0;
    this.#lastPingMs = -Infinity;
  }
}
