import type { Clock } from '../../base/clock.ts';
import { lowerName, RCODE, TYPE, type Message, type Question, type ResourceRecord } from '../wire/index.ts';

/** As kubeadm's Corefile: nothing is kept longer, whatever its TTL. */
const TTL_SECONDS_MAX = 30;
const ENTRIES_MAX = 9_984;

interface Entry {
  readonly message: Message;
  readonly storedMs: number;
  readonly ttlSeconds: number;
}

export type CacheKind = 'success' | 'denial';

const kindOf = ({ answers, rcode }: Message): CacheKind =>
  rcode === RCODE.NOERROR && answers.length > 0 ? 'success' : 'denial';

/** RFC 2308, section 5: an answer that something is not there is kept as long as the SOA beside it says. */
const ttlOf = ({ rcode, answers, authorities, isTruncated }: Message): number => {
  if (isTruncated || (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN)) return 0;
  const soa = authorities.find(({ data }) => data.kind === 'soa');
  const ttls =
    answers.length > 0 && rcode === RCODE.NOERROR
      ? answers.map(({ ttlSeconds }) => ttlSeconds)
      : soa?.data.kind === 'soa'
        ? [soa.ttlSeconds, soa.data.minimumSeconds]
        : [0];
  return Math.min(TTL_SECONDS_MAX, ...ttls);
};

const keyOf = (question: Question, { edns, isCheckingDisabled }: Message): string =>
  `${lowerName(question.name)} ${question.type} ${edns?.isDnssecOk === true} ${isCheckingDisabled}`;

const aged = (records: readonly ResourceRecord[], seconds: number): ResourceRecord[] =>
  records.map((record) => ({ ...record, ttlSeconds: Math.max(0, record.ttlSeconds - seconds) }));

/** Answers of upstreams. The longest unused gives way. */
export class AnswerCache {
  readonly #clock: Clock;
  readonly #entriesMax: number;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock, entriesMax = ENTRIES_MAX) {
    this.#clock = clock;
    this.#entriesMax = entriesMax;
  }

  count(kind: CacheKind): number {
    return [...this.#entries.values()].filter(({ message }) => kindOf(message) === kind).length;
  }

  /** With what is left of the TTLs. */
  find(
    question: Question,
    query: Message,
  ): { readonly kind: CacheKind; readonly message: Message } | undefined {
    const key = keyOf(question, query);
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    const ageSeconds = Math.floor((this.#clock.monotonicMs() - entry.storedMs) / 1000);
    if (ageSeconds >= entry.ttlSeconds) return undefined;
    this.#entries.set(key, entry);
    const { message } = entry;
    return {
      kind: kindOf(message),
      message: {
        ...message,
        answers: aged(message.answers, ageSeconds),
        authorities: aged(message.authorities, ageSeconds),
        additionals: aged(message.additionals, ageSeconds),
      },
    };
  }

  keep(question: Question, query: Message, answer: Message): void {
    // An address record of another type than asked for is not kept by its name: the question is the key.
    const ttlSeconds = ttlOf(answer);
    if (ttlSeconds <= 0 || question.type === TYPE.ANY) return;
    const key = keyOf(question, query);
    this.#entries.delete(key);
    this.#entries.set(key, { message: answer, storedMs: this.#clock.monotonicMs(), ttlSeconds });
    if (this.#entries.size <= this.#entriesMax) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
