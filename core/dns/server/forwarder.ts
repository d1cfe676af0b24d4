import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { message, RCODE, rcodeText, type Message, type Question } from '../wire/index.ts';
import { AnswerCache } from './cache.ts';
import { exchange, type DnsServerAddress } from '../exchange/exchange.ts';
import type { DnsMetrics } from './metrics.ts';

const TRIES_MAX = 2;
const TRY_TIMEOUT_MS = 2_000;
/** As kubeadm's Corefile. */
const CONCURRENT_MAX = 1_000;
const IDS = 65_536;
/** Fits into one packet of every network (DNS flag day 2020). */
const UDP_BYTES = 1_232;

export interface ForwarderOptions {
  readonly upstreams: readonly DnsServerAddress[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: DnsMetrics;
  /** For the metrics: `dns://127.20.0.1:10053`. */
  readonly server: string;
}

/** Asks other servers about names that are none of the cluster's, and keeps their answers. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #cache: AnswerCache;
  readonly #abort = new AbortController();
  #inFlight = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#cache = new AnswerCache(options.clock);
  }

  get isOn(): boolean {
    return this.#options.upstreams.length > 0;
  }

  observeMetrics(): void {
    const { metrics, server } = this.#options;
    for (const kind of ['success', 'denial'] as const)
      metrics.cacheEntries.labels(server, kind, '.', '').set(this.#cache.count(kind));
  }

  /** Never rejects: what no upstream answers is SERVFAIL. */
  async ask(question: Question, query: Message): Promise<Message> {
    const { metrics, server } = this.#options;
    const cached = this.#cache.find(question, query);
    if (cached) {
      metrics.cacheHits.labels(server, cached.kind, '.', '').inc();
      return cached.message;
    }
    metrics.cacheMisses.labels(server, '.', '').inc();
    if (this.#inFlight >= CONCURRENT_MAX) {
      metrics.rejected.inc();
      return message({ rcode: RCODE.REFUSED });
    }
    this.#inFlight += 1;
    try {
      const answer = await this.#askUpstreams(question, query);
      this.#cache.keep(question, query, answer);
      return answer;
    } finally {
      this.#inFlight -= 1;
    }
  }

  close(): void {
    this.#abort.abort();
  }

  async #askUpstreams(question: Question, query: Message): Promise<Message> {
    const { upstreams, clock, random, log, metrics } = this.#options;
    const first = random.below(upstreams.length);
    for (let count = 0; count < TRIES_MAX && !this.#abort.signal.aborted; count += 1) {
      const upstream = upstreams[(first + count) % upstreams.length]!;
      const to = `${upstream.host}:${upstream.port}`;
      const startedMs = clock.monotonicMs();
      try {
        const answer = await exchange(
          upstream,
          message({
            id: random.below(IDS),
            isRecursionDesired: true,
            isCheckingDisabled: query.isCheckingDisabled,
            questions: [question],
            edns: {
              udpBytes: UDP_BYTES,
              version: 0,
              isDnssecOk: query.edns?.isDnssecOk ?? false,
              options: [],
            },
          }),
          { clock, timeoutMs: TRY_TIMEOUT_MS, signal: this.#abort.signal },
        );
        const seconds = (clock.monotonicMs() - startedMs) / 1000;
        metrics.upstreamSeconds.labels('forward', to, rcodeText(answer.rcode)).observe(seconds);
        return answer;
      } catch (error) {
        log.write('debug', 'an upstream did not answer', { upstream: to, error: messageOf(error) });
      }
    }
    return message({ rcode: RCODE.SERVFAIL });
  }
}
