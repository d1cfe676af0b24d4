import type { MemberId } from '../../raft/types.ts';
import { ByteReader, malformed, type ByteWriter } from './bytes.ts';

/** Both sides must speak the same. Raised when frames or messages change their layout. */
export const PROTOCOL_VERSION = 1;

const MAGIC = 0x70656572;
const URLS_MAX = 16;

/** What a connection is for; a number on the wire. */
export const PURPOSES = ['stream', 'snapshot', 'probe'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** The first frame of the one who dials. */
export interface Hello {
  readonly purpose: Purpose;
  readonly clusterId: bigint;
  /** 0 for a probe: who asks is no member yet. */
  readonly from: MemberId;
  readonly to: MemberId;
  /** Where `from` is reached, for a listener that has not heard of it yet and has to answer. */
  readonly urls: readonly string[];
}

export const VERDICTS = [
  'welcome',
  'versionMismatch',
  'clusterMismatch',
  'wrongMember',
  'removed',
  'busy',
] as const;
export type HelloVerdict = (typeof VERDICTS)[number];

/** The first frame of the one who listens; anything but welcome is followed by a hang-up. */
export interface HelloReply {
  readonly verdict: HelloVerdict;
  readonly id: MemberId;
  readonly clusterId: bigint;
}

export const writeHello = (w: ByteWriter, hello: Hello): void => {
  w.varint(MAGIC);
  w.varint(PROTOCOL_VERSION);
  w.byte(PURPOSES.indexOf(hello.purpose));
  w.uint64(hello.clusterId);
  w.varint(hello.from);
  w.varint(hello.to);
  w.varint(hello.urls.length);
  for (const url of hello.urls) w.text(url);
};

/** 'versionMismatch' when the rest cannot be read because it is of another version. */
export const readHello = (payload: Uint8Array): Hello | 'versionMismatch' => {
  const r = new ByteReader(payload);
  if (r.varint() !== MAGIC) throw malformed('something that is no hello');
  if (r.varint() !== PROTOCOL_VERSION) return 'versionMismatch';
  const purpose = PURPOSES[r.byte()];
  if (purpose === undefined) throw malformed('a hello of unknown purpose');
  const [clusterId, from, to] = [r.uint64(), r.varint(), r.varint()];
  const urls: string[] = [];
  const count = r.count(1);
  if (count > URLS_MAX) throw malformed('a hello with too many URLs');
  for (let i = 0; i < count; i += 1) urls.push(r.text());
  r.end();
  return { purpose, clusterId, from, to, urls };
};

export const writeHelloReply = (w: ByteWriter, reply: HelloReply): void => {
  w.byte(VERDICTS.indexOf(reply.verdict));
  w.varint(reply.id);
  w.uint64(reply.clusterId);
};

export const readHelloReply = (payload: Uint8Array): HelloReply => {
  const r = new ByteReader(payload);
  const verdict = VERDICTS[r.byte()];
  if (verdict === undefined) throw malformed('an unknown verdict');
  return { verdict, id: r.varint(), clusterId: r.uint64() };
};

/** What the log says of a refusal. */
export const describeVerdict = (reply: HelloReply, hello: Hello): string => {
  switch (reply.verdict) {
    case 'welcome':
      return 'it accepted the connection';
    case 'versionMismatch':
      return `it does not speak version ${PROTOCOL_VERSION} of the peer protocol`;
    case 'clusterMismatch':
      return `it belongs to cluster ${reply.clusterId.toString(16)}, this member to ${hello.clusterId.toString(16)}`;
    case 'wrongMember':
      return `member ${reply.id.toString(16)} answers there, expected was ${hello.to.toString(16)}`;
    case 'removed':
      return 'this member was removed from the cluster';
    case 'busy':
      return 'it has no room for one more connection';
  }
};
