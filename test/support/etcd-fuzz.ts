import type { Random } from '../../core/base/random.ts';
import { ByteWriter } from '../../core/etcd/peer/bytes.ts';
import { FRAME as PEER_FRAME, FRAME_HEAD_BYTES } from '../../core/etcd/peer/frame.ts';
import { PURPOSES, writeHello } from '../../core/etcd/peer/hello.ts';
import * as proto from '../../core/etcd/proto/index.ts';
import type { MessageType } from '../../core/etcd/proto/wire/field.ts';

/** Bytes at which lengths, varints and signs turn over. */
const EDGES = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff];
const INSERTED_BYTES_MAX = 64;
const CHANGES_MAX = 4;

export const randomBytes = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.below(256)));

type Change = (bytes: Buffer, random: Random) => Buffer;

const CHANGES: readonly Change[] = [
  (bytes, random) => {
    const at = random.below(bytes.length);
    bytes[at] = bytes[at]! ^ (1 << random.below(8));
    return bytes;
  },
  (bytes, random) => {
    bytes[random.below(bytes.length)] = EDGES[random.below(EDGES.length)]!;
    return bytes;
  },
  (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  (bytes, random) => bytes.subarray(random.below(bytes.length)),
  (bytes, random) => {
    const at = random.below(bytes.length + 1);
    const more = randomBytes(random, 1 + random.below(INSERTED_BYTES_MAX));
    return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);
  },
  (bytes, random) => {
    const from = random.below(bytes.length);
    const to = from + random.below(bytes.length - from + 1);
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  },
];

/** A few changes of the kind that parsers trip over: flipped, cut, repeated, inserted. */
export const mutated = (valid: Buffer, random: Random): Buffer => {
  let bytes: Buffer = Buffer.from(valid);
  for (let left = 1 + random.below(CHANGES_MAX); left > 0; left -= 1)
    bytes =
      bytes.length === 0 ? randomBytes(random, 8) : CHANGES[random.below(CHANGES.length)]!(bytes, random);
  return Buffer.from(bytes);
};

const EDGE_NUMBERS = [
  0n,
  1n,
  2n,
  127n,
  128n,
  2n ** 31n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 1n,
];
const FIELD_NUMBERS = 12;

const varint = (value: bigint): Buffer => {
  const out: number[] = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...out, Number(rest)]);
};

const anyField = (random: Random): Buffer => {
  const number = BigInt(1 + random.below(FIELD_NUMBERS)) << 3n;
  if (random.below(2) === 0)
    return Buffer.concat([varint(number), varint(EDGE_NUMBERS[random.below(EDGE_NUMBERS.length)]!)]);
  const content = randomBytes(random, random.below(16));
  return Buffer.concat([varint(number | 2n), varint(BigInt(content.length)), content]);
};

/** Half of them still can be read: it is what they say that makes no sense. */
export const mutatedMessage = (valid: Buffer, random: Random): Buffer =>
  random.below(2) === 0
    ? mutated(valid, random)
    : Buffer.concat([valid, ...Array.from({ length: 1 + random.below(3) }, () => anyField(random))]);

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const FRAME = { DATA: 0, HEADERS: 1, SETTINGS: 4 } as const;
const END_STREAM = 0x1;
const END_HEADERS = 0x4;
const FRAME_TYPES = 12;

export const http2Frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([header, payload]);
};

export const grpcFrame = (message: Buffer): Buffer => {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
};

/** Literal fields without indexing (RFC 7541, 6.2.2), which any decoder understands. */
const headerBlock = (fields: readonly (readonly [string, string])[]): Buffer =>
  Buffer.concat(
    fields.flatMap(([name, value]) => [
      Buffer.from([0, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ]),
  );

/** A whole connection of a client that makes one call. */
export const http2Session = (path: string, message: Buffer): Buffer =>
  Buffer.concat([
    PREFACE,
    http2Frame(FRAME.SETTINGS, 0, 0, Buffer.alloc(0)),
    http2Frame(
      FRAME.HEADERS,
      END_HEADERS,
      1,
      headerBlock([
        [':method', 'POST'],
        [':scheme', 'http'],
        [':path', path],
        [':authority', 'etcd'],
        ['content-type', 'application/grpc'],
        ['te', 'trailers'],
      ]),
    ),
    http2Frame(FRAME.DATA, END_STREAM, 1, grpcFrame(message)),
  ]);

export const randomFrame = (random: Random): Buffer => {
  const streams = [0, 1, 2, 3, 5, 0x7fffffff, 0xffffffff];
  return http2Frame(
    random.below(FRAME_TYPES),
    random.below(256),
    streams[random.below(streams.length)]!,
    randomBytes(random, random.below(80)),
  );
};

export interface Sample {
  readonly path: string;
  readonly message: Buffer;
  /** Throws where our codec cannot read it. */
  readonly decode?: (bytes: Buffer) => unknown;
  /** How often it is taken, against 1. */
  readonly weight?: number;
}

const bytes = (text: string): Buffer => Buffer.from(text);
const sample = <In>(path: string, type: MessageType<unknown, In>, value: In): Sample => ({
  path: `/etcdserverpb.${path}`,
  message: type.encode(value),
  decode: (encoded) => type.decode(encoded),
});

/** A meaningful request of every method. None can add a member: a mutation must not cost the quorum. */
export const SAMPLES: readonly Sample[] = [
  sample('KV/Range', proto.RangeRequest, {
    key: bytes('fuzz/a'),
    rangeEnd: bytes('fuzz/z'),
    limit: 10,
    revision: 3,
  }),
  sample('KV/Put', proto.PutRequest, {
    key: bytes('fuzz/a'),
    value: bytes('value'),
    lease: 7n,
    prevKv: true,
  }),
  sample('KV/DeleteRange', proto.DeleteRangeRequest, {
    key: bytes('fuzz/a'),
    rangeEnd: bytes('fuzz/c'),
    prevKv: true,
  }),
  sample('KV/Txn', proto.TxnRequest, {
    compare: [{ key: bytes('fuzz/a'), target: proto.COMPARE_TARGET.MOD, modRevision: 2 }],
    success: [
      { requestPut: { key: bytes('fuzz/b'), value: bytes('x') } },
      { requestTxn: { success: [{ requestRange: { key: bytes('fuzz/b') } }] } },
    ],
    failure: [{ requestDeleteRange: { key: bytes('fuzz/a') } }],
  }),
  sample('KV/Compact', proto.CompactionRequest, { revision: 2, physical: true }),
  sample('Watch/Watch', proto.WatchRequest, {
    createRequest: { key: bytes('fuzz/'), rangeEnd: bytes('fuzz0'), startRevision: 2, fragment: true },
  }),
  sample('Watch/Watch', proto.WatchRequest, { cancelRequest: { watchId: 1n } }),
  sample('Lease/LeaseGrant', proto.LeaseGrantRequest, { TTL: 100, ID: 0n }),
  sample('Lease/LeaseRevoke', proto.LeaseRevokeRequest, { ID: 7n }),
  sample('Lease/LeaseKeepAlive', proto.LeaseKeepAliveRequest, { ID: 7n }),
  sample('Lease/LeaseTimeToLive', proto.LeaseTimeToLiveRequest, { ID: 7n, keys: true }),
  sample('Lease/LeaseLeases', proto.LeaseLeasesRequest, {}),
  sample('Cluster/MemberAdd', proto.MemberAddRequest, { peerURLs: ['nowhere'], isLearner: true }),
  sample('Cluster/MemberRemove', proto.MemberRemoveRequest, { ID: 1n }),
  sample('Cluster/MemberUpdate', proto.MemberUpdateRequest, { ID: 1n, peerURLs: ['nowhere'] }),
  sample('Cluster/MemberList', proto.MemberListRequest, { linearizable: true }),
  sample('Cluster/MemberPromote', proto.MemberPromoteRequest, { ID: 1n }),
  sample('Maintenance/Alarm', proto.AlarmRequest, { memberID: 1n }),
  sample('Maintenance/Status', proto.StatusRequest, {}),
  { ...sample('Maintenance/Defragment', proto.DefragmentRequest, {}), weight: 0.05 },
  sample('Maintenance/Hash', proto.HashRequest, {}),
  sample('Maintenance/HashKV', proto.HashKVRequest, { revision: 3 }),
  { ...sample('Maintenance/Snapshot', proto.SnapshotRequest, {}), weight: 0.2 },
  sample('Maintenance/MoveLeader', proto.MoveLeaderRequest, { targetID: 1n }),
  sample('Maintenance/Downgrade', proto.DowngradeRequest, { version: '3.5.0' }),
  sample('Auth/AuthStatus', proto.AuthStatusRequest, {}),
  sample('Auth/UserAdd', proto.AuthStatusRequest, {}),
  { path: '/grpc.health.v1.Health/Check', message: proto.HealthCheckRequest.encode({ service: '' }) },
  { path: '/etcdserverpb.KV/NoSuchMethod', message: bytes('x') },
];

const covers = ({ key, rangeEnd }: { key: Uint8Array; rangeEnd: Uint8Array }, kept: Buffer): boolean => {
  if (rangeEnd.length === 0) return kept.equals(key);
  const isOpen = rangeEnd.length === 1 && rangeEnd[0] === 0;
  return kept.compare(key) >= 0 && (isOpen || kept.compare(rangeEnd) < 0);
};
const harmsIn = (ops: readonly proto.RequestOp[], kept: Buffer): boolean =>
  ops.some(
    ({ requestDeleteRange, requestTxn }) =>
      (requestDeleteRange !== undefined && covers(requestDeleteRange, kept)) ||
      (requestTxn !== undefined && harmsIn([...requestTxn.success, ...requestTxn.failure], kept)),
  );

/** Methods of which a fine request can undo what the test relies on. */
export const mayHarm = (path: string): boolean => /\/(DeleteRange|Txn|Alarm|Downgrade)$/.test(path);

/** A mutation may be a fine request that does what no etcd would refuse: delete what the test keeps, raise an alarm. */
export const isHarmful = ({ path, message }: Sample, kept: Buffer): boolean => {
  if (!mayHarm(path)) return false;
  try {
    if (path.endsWith('/DeleteRange')) return covers(proto.DeleteRangeRequest.decode(message), kept);
    if (path.endsWith('/Alarm')) return proto.AlarmRequest.decode(message).action !== 0;
    if (path.endsWith('/Downgrade')) return proto.DowngradeRequest.decode(message).action !== 0;
    const { success, failure } = proto.TxnRequest.decode(message);
    return harmsIn([...success, ...failure], kept);
  } catch {
    return false; // what cannot be read cannot be done
  }
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'CONNECT', 'TRACE', 'PRI', 'get', 'G\u0000T', ''];
const TARGETS = [
  ...[
    '/metrics',
    '/health',
    '/health?exclude=NOSPACE&serializable=true',
    '/livez/x',
    '/readyz?verbose',
    '/version',
  ],
  ...[
    '//',
    '/%',
    '/%00',
    '/../../etc/passwd',
    '*',
    'http://[',
    'http://x/metrics',
    '/?\u00ff',
    '?',
    '',
    '/ /',
    '/#',
  ],
  ...[
    '/etcdserverpb.KV/Range',
    '/v3/kv/range',
    '/debug/pprof/',
    `/${'a'.repeat(20_000)}`,
    '/metrics?'.repeat(500),
  ],
];
const HEADERS = [
  ...[
    'Host: m',
    'Host:',
    'Host: a\r\nHost: b',
    'Content-Length: 5',
    'Content-Length: -1',
    'Content-Length: 1e9',
  ],
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, chunked',
    'Connection: upgrade\r\nUpgrade: h2c',
  ],
  ...[
    'HTTP2-Settings: AAMAAABk',
    'Expect: 100-continue',
    'Expect: nothing',
    'Range: bytes=0-',
    'X: \u0000',
    ': x',
  ],
  ...[`X: ${'y'.repeat(20_000)}`, ' folded', 'Content-Type: application/grpc', 'Accept-Encoding: gzip;q=nan'],
];

/** A request of HTTP/1 that is odd in one place or in all of them. */
export const oddRequest = (random: Random): Buffer => {
  const pick = (from: readonly string[]): string => from[random.below(from.length)]!;
  const version =
    random.below(8) === 0 ? pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/9', 'HTTP/1.1.1', '']) : 'HTTP/1.1';
  const fields = Array.from({ length: random.below(6) }, () => pick(HEADERS));
  const method = random.below(2) === 0 ? 'GET' : pick(METHODS);
  const head = [`${method} ${pick(TARGETS)} ${version}`, ...fields].join('\r\n');
  const request = Buffer.concat([
    Buffer.from(`${head}\r\n\r\n`, 'latin1'),
    randomBytes(random, random.below(3) * 20),
  ]);
  return random.below(4) === 0 ? mutated(request, random) : request;
};

/** Nothing among them takes away what the tests look for afterwards, however it is changed. */
const GATEWAY_SAMPLES: readonly (readonly [string, string])[] = [
  [
    '/v3/kv/range',
    '{"key":"AA==","range_end":"AA==","limit":"3","sort_order":"DESCEND","sort_target":"MOD"}',
  ],
  ['/v3/kv/put', '{"key":"ZnV6eg==","value":"AQIDBA==","lease":"0","prev_kv":true}'],
  [
    '/v3/kv/txn',
    '{"compare":[{"key":"YQ==","result":"EQUAL","target":"VERSION","version":"0"}],"success":[]}',
  ],
  ['/v3/watch', '{"create_request":{"key":"YQ==","start_revision":"1"}} {"cancel_request":{"watch_id":"0"}}'],
  ['/v3/lease/grant', '{"TTL":"100","ID":"0"}'],
  ['/v3/lease/keepalive', '{"ID":"1"}{"ID":"2"}'],
  ['/v3/lease/timetolive', '{"ID":"1","keys":true}'],
  ['/v3/cluster/member/list', '{"linearizable":true}'],
  ['/v3/maintenance/status', '{}'],
  ['/v3/auth/authenticate', '{"name":"nobody","password":"x"}'],
  ['/v3/lock/unlock', '{"key":"YQ=="}'],
  ['/v3/election/leader', '{"name":"YQ=="}'],
  ['/v3/kv/nothing', '{}'],
];
const JSON_PIECES = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\\',
  '\\u0',
  'null',
  '-',
  '1e999',
  '{"key":',
  '\n',
  '\0',
];
const DEEP = 2000;

/** A request to the JSON gateway whose body is JSON, nearly JSON, or nothing of the kind. */
export const oddGatewayRequest = (
  random: Random,
): {
  readonly bytes: Buffer;
  /** Whether it is a whole request, so that an answer must come. */
  readonly wantsAnswer: boolean;
} => {
  const [path, sample] = GATEWAY_SAMPLES[random.below(GATEWAY_SAMPLES.length)]!;
  const pieces = (count: number): string =>
    Array.from({ length: count }, () => JSON_PIECES[random.below(JSON_PIECES.length)]!).join('');
  const bodies = [
    () => Buffer.from(sample),
    () => mutated(Buffer.from(sample), random),
    () => mutated(Buffer.from(sample), random),
    () => Buffer.from(pieces(1 + random.below(40))),
    () => Buffer.from('{"key":['.repeat(random.below(DEEP))),
    () => randomBytes(random, random.below(200)),
  ];
  const body = bodies[random.below(bodies.length)]!();
  const length = random.below(10) === 0 ? random.below(500) : body.length;
  const isChunked = random.below(5) === 0;
  const head = [
    `${random.below(20) === 0 ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    'Host: x',
    isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    ...(random.below(6) === 0 ? [`Grpc-Timeout: ${pieces(1)}1S`] : []),
    ...(random.below(6) === 0 ? [`Authorization: ${random.below(1000)}.${random.below(1000)}`] : []),
  ];
  const framed = isChunked
    ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
    : body;
  return {
    bytes: Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), framed]),
    // A watch that asks for nothing is told nothing.
    wantsAnswer: path !== '/v3/watch' && (isChunked ? body.length > 0 : length === body.length),
  };
};

const writer = new ByteWriter();

/** A hello of the peer protocol and what may follow it, broken somewhere. */
export const oddPeerFrames = (random: Random): Buffer => {
  const framed = (type: number, payload: Buffer): Buffer => {
    const head = Buffer.alloc(FRAME_HEAD_BYTES);
    head.writeUInt32BE(payload.length + 1, 0);
    head[4] = type;
    return Buffer.concat([head, payload]);
  };
  writeHello(writer, {
    purpose: PURPOSES[random.below(PURPOSES.length)]!,
    clusterId: BigInt(random.below(2 ** 31)),
    from: random.below(3) === 0 ? 0 : random.below(2 ** 31),
    to: random.below(2 ** 31),
    urls: Array.from({ length: random.below(20) }, () => 'https://127.0.0.1:1'),
  });
  const hello = framed(PEER_FRAME.hello, Buffer.concat(writer.take()));
  const types = Object.values(PEER_FRAME);
  const rest = Array.from({ length: random.below(4) }, () =>
    framed(types[random.below(types.length)]!, randomBytes(random, random.below(200))),
  );
  const session = Buffer.concat([hello, ...rest]);
  return random.below(3) === 0 ? session : mutated(session, random);
};

const TLS_RECORDS = [0x14, 0x15, 0x16, 0x17, 0x18, 0x80];

/** A record of TLS with a body that makes no sense: alerts, half a hello, lengths that lie. */
export const oddTlsRecord = (random: Random): Buffer => {
  const body = randomBytes(random, random.below(300));
  const head = Buffer.from([TLS_RECORDS[random.below(TLS_RECORDS.length)]!, 3, random.below(5), 0, 0]);
  head.writeUInt16BE(random.below(3) === 0 ? random.below(0x10000) : body.length, 3);
  if (body.length > 4 && random.below(2) === 0) body.writeUInt32BE(0x01000000 + body.length - 4, 0);
  return Buffer.concat([head, body]);
};
