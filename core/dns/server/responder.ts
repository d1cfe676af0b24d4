import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import {
  CLASS_IN,
  decodeMessage,
  encodeMessage,
  idOf,
  isWireError,
  isWithinZone,
  MESSAGE_BYTES_MAX,
  message,
  OPCODE_QUERY,
  RCODE,
  rcodeText,
  TYPE,
  typeText,
  type Message,
  type Question,
  type ResourceRecord,
} from '../wire/index.ts';
import { answerQuestion, REVERSE_ZONES, type ZoneConfig, type ZoneSource } from '../zone/index.ts';
import { udpRoom } from '../exchange/exchange.ts';
import type { Forwarder } from './forwarder.ts';
import type { DnsMetrics } from './metrics.ts';

/** What this server says of itself; answers are as long as the client allows, up to this. */
const UDP_BYTES_MAX = 4_096;
const UDP_BYTES_TOLD = 1_232;
/** Queries that wait for the API or for an upstream. */
const IN_FLIGHT_MAX = 2_048;
const VIEW = '';

export interface ResponderOptions {
  readonly zone: ZoneConfig;
  /** The cluster's objects, once they are known; rejects when they are not in time. */
  source(): Promise<ZoneSource>;
  readonly forwarder: Forwarder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: DnsMetrics;
  readonly server: string;
}

export interface Transport {
  readonly proto: 'udp' | 'tcp';
  readonly family: '1' | '2';
}

type Reply = Partial<Message> & { readonly plugin?: string };

const isAddress = ({ type }: ResourceRecord): boolean => type === TYPE.A || type === TYPE.AAAA;

/** From the bytes of a question to the bytes of its answer. */
export class Responder {
  readonly #options: ResponderOptions;
  #inFlight = 0;

  constructor(options: ResponderOptions) {
    this.#options = options;
  }

  /** Undefined: nothing is answered, since the bytes are no question. Never rejects. */
  async answer(bytes: Uint8Array, transport: Transport): Promise<Uint8Array | undefined> {
    let query: Message;
    try {
      query = decodeMessage(bytes);
    } catch (error) {
      if (!isWireError(error)) throw error;
      const id = idOf(bytes);
      // Answering an answer could loop forever.
      if (id === undefined || (bytes[2]! & 0x80) !== 0) return undefined;
      return encodeMessage(message({ id, isResponse: true, rcode: RCODE.FORMERR }));
    }
    if (query.isResponse) return undefined;
    if (this.#inFlight >= IN_FLIGHT_MAX) return this.#encode(query, { rcode: RCODE.SERVFAIL }, transport);
    const { clock, metrics, log } = this.#options;
    const startedMs = clock.monotonicMs();
    this.#inFlight += 1;
    let reply: Reply;
    try {
      reply = await this.#reply(query);
    } catch (error) {
      metrics.panics.inc();
      log.write('error', 'a question could not be answered', { error: messageOf(error) });
      reply = { rcode: RCODE.SERVFAIL };
    } finally {
      this.#inFlight -= 1;
    }
    const encoded = this.#encode(query, reply, transport);
    this.#observe(query, reply, transport, encoded.length, (clock.monotonicMs() - startedMs) / 1000);
    return encoded;
  }

  async #reply(query: Message): Promise<Reply> {
    const [question] = query.questions;
    if (query.opcode !== OPCODE_QUERY) return { rcode: RCODE.NOTIMP };
    if (!question || query.questions.length > 1) return { rcode: RCODE.FORMERR };
    if ((query.edns?.version ?? 0) > 0) return { rcode: RCODE.BADVERS };
    if (question.class !== CLASS_IN || question.type === TYPE.AXFR || question.type === TYPE.IXFR)
      return { rcode: RCODE.REFUSED };
    const isOwn = this.#isOwn(question.name);
    if (isOwn || REVERSE_ZONES.some((zone) => isWithinZone(question.name, zone))) {
      const own = await this.#ownReply(question, query);
      if (own) return own;
    }
    return this.#forward(question, query);
  }

  async #ownReply(question: Question, query: Message): Promise<Reply | undefined> {
    const { source, zone, log, forwarder } = this.#options;
    let objects: ZoneSource;
    try {
      objects = await source();
    } catch (error) {
      log.write('warn', 'the API is not there to answer from', { error: messageOf(error) });
      return { rcode: RCODE.SERVFAIL, plugin: 'kubernetes' };
    }
    const answer = answerQuestion(question, objects, zone);
    if (!answer) return undefined;
    const { rcode, answers, authorities, additionals, continuesAt } = answer;
    const own = { rcode, authorities, additionals, isAuthoritative: true, plugin: 'kubernetes' };
    if (continuesAt === undefined || !forwarder.isOn) return { ...own, answers: this.#shuffled(answers) };
    const rest = await forwarder.ask({ ...question, name: continuesAt }, query);
    return {
      ...own,
      rcode: rest.rcode,
      answers: [...answers, ...rest.answers],
      authorities: rest.authorities,
    };
  }

  async #forward(question: Question, query: Message): Promise<Reply> {
    const { forwarder } = this.#options;
    // As a CoreDNS that serves the cluster's zones alone.
    if (!forwarder.isOn) return { rcode: RCODE.REFUSED };
    const { rcode, answers, authorities, additionals, isRecursionAvailable, isAuthenticData } =
      await forwarder.ask(question, query);
    return {
      rcode: rcode > 0xf && !query.edns ? RCODE.SERVFAIL : rcode,
      answers,
      authorities,
      additionals,
      isRecursionAvailable,
      isAuthenticData,
      plugin: 'forward',
    };
  }

  /** Clients take the first address: each is the first in its turn. Aliases stay before what they lead to. */
  #shuffled(answers: readonly ResourceRecord[]): ResourceRecord[] {
    const addresses = answers.filter(isAddress);
    for (let at = addresses.length - 1; at > 0; at -= 1) {
      const other = this.#options.random.below(at + 1);
      [addresses[at], addresses[other]] = [addresses[other]!, addresses[at]!];
    }
    return [...answers.filter((record) => !isAddress(record)), ...addresses];
  }

  #encode(query: Message, { plugin: _, ...reply }: Reply, { proto }: Transport): Uint8Array {
    const answer = message({
      id: query.id,
      isResponse: true,
      opcode: query.opcode,
      isRecursionDesired: query.isRecursionDesired,
      isCheckingDisabled: query.isCheckingDisabled,
      questions: query.questions.slice(0, 1),
      ...reply,
      edns: query.edns && {
        udpBytes: UDP_BYTES_TOLD,
        version: 0,
        isDnssecOk: query.edns.isDnssecOk,
        options: [],
      },
    });
    const room = proto === 'tcp' ? MESSAGE_BYTES_MAX : Math.min(udpRoom(query), UDP_BYTES_MAX);
    try {
      return encodeMessage(answer, room);
    } catch (error) {
      if (!isWireError(error)) throw error;
      // An object with a name that DNS cannot carry, such as an external name with a label that is too long.
      return encodeMessage({
        ...answer,
        rcode: RCODE.SERVFAIL,
        answers: [],
        authorities: [],
        additionals: [],
      });
    }
  }

  #isOwn(name: string): boolean {
    return isWithinZone(name, this.#options.zone.zone);
  }

  #observe(query: Message, reply: Reply, { proto, family }: Transport, bytes: number, seconds: number): void {
    const { metrics, server, zone } = this.#options;
    const [question] = query.questions;
    const of = question && this.#isOwn(question.name) ? zone.zone : '.';
    // Only types that exist: a client must not fill the metrics with numbers of its own.
    const type = question ? typeText(question.type) : 'other';
    const known = type.startsWith('TYPE') ? 'other' : type;
    metrics.requests.labels(server, of, VIEW, proto, family, known).inc();
    metrics.responses
      .labels(server, of, VIEW, rcodeText(reply.rcode ?? RCODE.NOERROR), reply.plugin ?? '')
      .inc();
    metrics.durationSeconds.labels(server, of, VIEW).observe(seconds);
    metrics.requestBytes
      .labels(server, of, VIEW, proto)
      .observe(proto === 'tcp' ? MESSAGE_BYTES_MAX : udpRoom(query));
    metrics.responseBytes.labels(server, of, VIEW, proto).observe(bytes);
  }
}
