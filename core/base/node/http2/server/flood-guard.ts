import { H2_ERROR } from '../frame.ts';
import { breach } from './protocol-breach.ts';

/** Above this many a second, beyond what the peer's calls explain, it is an attack and not a client. */
const CHEAP_FRAMES_PER_SECOND_MAX = 5000;
/** grpc-go measures the path with one ping for each piece of data that it receives, and may reset the stream too. */
const CHEAP_FRAMES_PER_ANSWER = 2;

/**
 * Counts frames that cost us work and the peer nothing: pings, settings, resets, continuations, empty data
 * (CVE-2019-9512 and its kin, CVE-2023-44487).
 */
export class FloodGuard {
  readonly #nowMs: () => number;
  #count = 0;
  #sinceMs = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Throws ProtocolBreach when it is too much. */
  cheapFrame(): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#sinceMs > 1000) {
      this.#sinceMs = nowMs;
      this.#count = 0;
    }
    this.#count += 1;
    if (this.#count > CHEAP_FRAMES_PER_SECOND_MAX)
      throw breach('too many control frames', H2_ERROR.enhanceYourCalm);
  }

  /** We sent data: real work goes on. */
  answered(): void {
    this.#count = Math.max(0, this.#count - CHEAP_FRAMES_PER_ANSWER);
  }
}
