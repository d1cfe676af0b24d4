import { assert, unreachable } from '../../base/assert.ts';
import type { Message, Proposal } from '../../raft/messages.ts';
import type { Configuration, EntryKind, LogEntry, MemberId } from '../../raft/types.ts';
import { ByteReader, ByteWriter, malformed } from './bytes.ts';

/** First byte of every message. A change of the layout takes the next number; see hello for who may talk. */
export const CODEC_VERSION = 1;

/** The position in each list is the number on the wire: append, never reorder. */
const KINDS = [
  'append',
  'appendReply',
  'heartbeat',
  'heartbeatReply',
  'voteRequest',
  'voteReply',
  'snapshot',
  'timeoutNow',
  'propose',
  'readIndex',
  'readIndexReply',
  'commit',
] as const satisfies readonly Message['kind'][];
const ENTRY_KINDS = ['empty', 'normal', 'config'] as const satisfies readonly EntryKind[];

const ENTRY_BYTES_MIN = 3;
const PROPOSAL_BYTES_MIN = 2;

export const encodeMessage = (message: Message): Buffer[] => {
  const writer = new ByteWriter();
  writeMessage(writer, message);
  return writer.take();
};

export const writeMessage = (w: ByteWriter, message: Message): void => {
  w.byte(CODEC_VERSION);
  w.byte(KINDS.indexOf(message.kind));
  w.varint(message.from);
  w.varint(message.to);
  w.varint(message.term);
  writeBody(w, message);
};

const writeBody = (w: ByteWriter, message: Message): void => {
  switch (message.kind) {
    case 'append':
      w.varint(message.prevIndex);
      w.varint(message.prevTerm);
      w.varint(message.commit);
      w.varint(message.entries.length);
      for (let i = 0; i < message.entries.length; i += 1) {
        const entry = message.entries[i]!;
        assert(entry.index === message.prevIndex + 1 + i, 'entries of an append follow each other');
        writeEntry(w, entry);
      }
      return;
    case 'appendReply':
      w.byte(message.reject ? 1 : 0);
      w.varint(message.index);
      w.varint(message.hintIndex);
      w.varint(message.hintTerm);
      return;
    case 'heartbeat':
      w.varint(message.commit);
      w.varint(message.readRound);
      return;
    case 'heartbeatReply':
      w.varint(message.readRound);
      return;
    case 'voteRequest':
      w.byte((message.pre ? 1 : 0) | (message.transfer ? 2 : 0));
      w.varint(message.lastIndex);
      w.varint(message.lastTerm);
      return;
    case 'voteReply':
      w.byte((message.pre ? 1 : 0) | (message.reject ? 2 : 0));
      w.varint(message.commit);
      w.varint(message.commitTerm);
      return;
    case 'snapshot':
      w.varint(message.mark.index);
      w.varint(message.mark.term);
      writeConfiguration(w, message.mark.configuration);
      return;
    case 'timeoutNow':
      return;
    case 'propose':
      w.varint(message.proposals.length);
      for (const { kind, data } of message.proposals) {
        w.byte(ENTRY_KINDS.indexOf(kind));
        w.bytes(data);
      }
      return;
    case 'readIndex':
      writeNumbers(w, message.contexts);
      return;
    case 'readIndexReply':
      w.varint(message.index);
      writeNumbers(w, message.contexts);
      return;
    case 'commit':
      w.varint(message.commit);
      return;
    default:
      unreachable(message, 'message');
  }
};

const writeEntry = (w: ByteWriter, entry: LogEntry): void => {
  w.byte(ENTRY_KINDS.indexOf(entry.kind));
  w.varint(entry.term);
  w.bytes(entry.data);
};

const writeNumbers = (w: ByteWriter, numbers: readonly number[]): void => {
  w.varint(numbers.length);
  for (const number of numbers) w.varint(number);
};

const writeConfiguration = (w: ByteWriter, configuration: Configuration): void => {
  writeNumbers(w, configuration.voters);
  writeNumbers(w, configuration.votersOutgoing);
  writeNumbers(w, configuration.learners);
  writeNumbers(w, configuration.learnersNext);
};

const ENTRY_OVERHEAD_BYTES = 24;
const MESSAGE_OVERHEAD_BYTES = 128;

/** Not less than what the message takes on the wire. Only lists of payloads can be large. */
export const messageBytesMax = (message: Message): number => {
  const payloads =
    message.kind === 'append' ? message.entries : message.kind === 'propose' ? message.proposals : [];
  let bytes = MESSAGE_OVERHEAD_BYTES;
  for (const { data } of payloads) bytes += data.length + ENTRY_OVERHEAD_BYTES;
  return bytes;
};

/** Payloads of entries and proposals are views of `bytes`. Throws PeerError Malformed, whatever the bytes are. */
export const decodeMessage = (bytes: Uint8Array): Message => {
  const r = new ByteReader(bytes);
  const message = readMessage(r);
  r.end();
  return message;
};

const readMessage = (r: ByteReader): Message => {
  const version = r.byte();
  if (version !== CODEC_VERSION) throw malformed(`a message of format ${version}, expected ${CODEC_VERSION}`);
  const kind = KINDS[r.byte()];
  const envelope = { from: r.varint(), to: r.varint(), term: r.varint() };
  switch (kind) {
    case 'append': {
      const prevIndex = r.varint();
      const prevTerm = r.varint();
      const commit = r.varint();
      return { kind, ...envelope, prevIndex, prevTerm, commit, entries: readEntries(r, prevIndex) };
    }
    case 'appendReply':
      return {
        kind,
        ...envelope,
        reject: r.byte() !== 0,
        index: r.varint(),
        hintIndex: r.varint(),
        hintTerm: r.varint(),
      };
    case 'heartbeat':
      return { kind, ...envelope, commit: r.varint(), readRound: r.varint() };
    case 'heartbeatReply':
      return { kind, ...envelope, readRound: r.varint() };
    case 'voteRequest': {
      const flags = r.byte();
      const [pre, transfer] = [(flags & 1) !== 0, (flags & 2) !== 0];
      return { kind, ...envelope, pre, transfer, lastIndex: r.varint(), lastTerm: r.varint() };
    }
    case 'voteReply': {
      const flags = r.byte();
      const [pre, reject] = [(flags & 1) !== 0, (flags & 2) !== 0];
      return { kind, ...envelope, pre, reject, commit: r.varint(), commitTerm: r.varint() };
    }
    case 'snapshot':
      return {
        kind,
        ...envelope,
        mark: { index: r.varint(), term: r.varint(), configuration: readConfiguration(r) },
      };
    case 'timeoutNow':
      return { kind, ...envelope };
    case 'propose':
      return { kind, ...envelope, proposals: readProposals(r) };
    case 'readIndex':
      return { kind, ...envelope, contexts: readNumbers(r) };
    case 'readIndexReply':
      return { kind, ...envelope, index: r.varint(), contexts: readNumbers(r) };
    case 'commit':
      return { kind, ...envelope, commit: r.varint() };
    case undefined:
      throw malformed('a message of unknown kind');
    default:
      return unreachable(kind, 'message kind');
  }
};

const readEntryKind = (r: ByteReader): EntryKind => {
  const kind = ENTRY_KINDS[r.byte()];
  if (kind === undefined) throw malformed('an entry of unknown kind');
  return kind;
};

const readEntries = (r: ByteReader, prevIndex: number): LogEntry[] => {
  const count = r.count(ENTRY_BYTES_MIN);
  if (prevIndex + count > Number.MAX_SAFE_INTEGER) throw malformed('entries beyond the last possible index');
  const entries: LogEntry[] = [];
  for (let i = 0; i < count; i += 1) {
    const kind = readEntryKind(r);
    entries.push({ index: prevIndex + 1 + i, term: r.varint(), kind, data: r.bytes() });
  }
  return entries;
};

const readProposals = (r: ByteReader): Proposal[] => {
  const count = r.count(PROPOSAL_BYTES_MIN);
  const proposals: Proposal[] = [];
  for (let i = 0; i < count; i += 1) {
    const kind = readEntryKind(r);
    if (kind === 'empty') throw malformed('a proposal of an empty entry');
    proposals.push({ kind, data: r.bytes() });
  }
  return proposals;
};

const readNumbers = (r: ByteReader): number[] => {
  const count = r.count(1);
  const numbers: number[] = [];
  for (let i = 0; i < count; i += 1) numbers.push(r.varint());
  return numbers;
};

const readConfiguration = (r: ByteReader): Configuration => {
  const ids = (): MemberId[] => readNumbers(r);
  return { voters: ids(), votersOutgoing: ids(), learners: ids(), learnersNext: ids() };
};
