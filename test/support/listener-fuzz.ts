import { encodeHeaders, type HeaderField } from '../../core/base/node/http2/hpack.ts';
import { FLAG, frame } from '../../core/base/node/http2/frame.ts';
import type { Random } from '../../core/base/random.ts';
import type { FrameInput } from './hostile-frames.ts';

/** Bytes that a client might send by mistake or intentionally, below the level of requests: made of a seed. */

const one = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)]!;
const chance = (random: Random, share: number): boolean => random.next() < share;
const bytes = (random: Random, lengthMax: number): Buffer =>
  Buffer.from(Array.from({ length: random.below(lengthMax + 1) }, () => random.below(256)));

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'CONNECT',
  'TRACE',
  'PRI',
  'get',
  '',
  'G ET',
  'é',
];
/** The first of the methods are some that servers know. */
const SANE_METHODS = 6;
const POD = '/api/v1/namespaces/fuzz/pods/n1';
const PATHS = [
  ...[
    '/',
    '//',
    '/livez',
    '/readyz?verbose',
    '/metrics',
    '/version',
    '*',
    '',
    'http://x/livez',
    'x:1',
    '/%',
    '/%zz',
  ],
  ...[
    '/api',
    '/apis',
    '/api/v1',
    '/apis/apps/v1',
    '/api/v1/pods',
    '/api/v1/namespaces/fuzz/configmaps',
    '/api/v9/x',
  ],
  ...[
    '/openapi/v2',
    '/openapi/v3',
    '/api/v1/watch',
    '/api/v1/watch/pods',
    '/api/v1/proxy/nodes/x',
    '/apis/x/y/z',
  ],
  ...[
    `${POD}/exec?command=id&stdout=1`,
    `${POD}/attach?stdin=1`,
    `${POD}/portforward`,
    `${POD}/log?tailLines=x`,
  ],
  ...[
    `${POD}:80/proxy/`,
    `${POD}/proxy/%0d%0aX:%20y`,
    '/api/v1/nodes/https:n1:1/proxy/x',
    '/api/v1/nodes/:/proxy',
  ],
  ...[
    '/api/v1/namespaces/fuzz/services/http:n1:/proxy',
    '/api/v1/namespaces/..%2f../secrets',
    `/${'a/'.repeat(500)}`,
  ],
  ...[
    '/api/v1/pods?watch=1&timeoutSeconds=1',
    '/api/v1/pods?labelSelector=%00',
    '/api/v1/pods?limit=1&limit=2',
  ],
];
const SELECTORS = [
  'a',
  '!a',
  'a=b',
  'a in (b,c)',
  'a notin ()',
  'a>5',
  'a<x',
  '(',
  ')',
  ',',
  '=',
  '!=',
  'in',
  '\\',
  '\u0000',
];
const HEADERS: readonly (readonly [string, string])[] = [
  ['host', 'x'],
  ['host', ''],
  ['content-length', '5'],
  ['content-length', '-1'],
  ['content-length', '99999999999999999999'],
  ['content-length', '0x10'],
  ['transfer-encoding', 'chunked'],
  ['transfer-encoding', 'gzip, chunked'],
  ['transfer-encoding', 'identity'],
  ['connection', 'Upgrade'],
  ['connection', 'close'],
  ['connection', 'keep-alive, x'],
  ['upgrade', 'SPDY/3.1'],
  ['upgrade', 'websocket'],
  ['upgrade', 'h2c'],
  ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
  ['sec-websocket-version', '13'],
  ['sec-websocket-protocol', 'v4.channel.k8s.io, x'],
  ['expect', '100-continue'],
  ['expect', 'x'],
  ['accept', 'application/json;as=Table;v=v1;g=meta.k8s.io'],
  ['accept', ';;q=,*/'],
  ['accept-encoding', 'gzip;q=0, *;q=x'],
  ['content-type', 'application/vnd.kubernetes.protobuf'],
  ['content-type', 'application/apply-patch+yaml'],
  ['content-encoding', 'gzip'],
  ['authorization', 'Bearer '],
  ['authorization', 'Bearer a.b.c'],
  ['authorization', 'Bearer eyJhbGciOiJub25lIn0.e30.'],
  ['authorization', 'Basic !!!'],
  ['impersonate-user', 'x'],
  ['impersonate-extra-%', 'x'],
  ['x-remote-user', 'admin'],
  ['audit-id', 'x'.repeat(100)],
  ['range', 'bytes=0-'],
  ['if-none-match', '*, "'],
  ['cookie', 'a=b;'.repeat(50)],
  ['x-long', 'x'.repeat(20_000)],
];
const BODIES = [
  '',
  '{}',
  '[]',
  'null',
  '{"a":',
  '\u0000',
  'k8s\u0000\n\u0003',
  '5\r\nhello\r\n0\r\n\r\n',
  'ffffffff\r\n',
  '-1\r\n',
];

const pathOf = (random: Random): string => {
  const path = one(random, PATHS);
  if (chance(random, 0.7)) return path;
  const name = one(random, ['labelSelector', 'fieldSelector', 'continue', 'resourceVersion', 'watch']);
  const selector = Array.from({ length: 1 + random.below(3) }, () => one(random, SELECTORS)).join(
    one(random, [',', '', ' ']),
  );
  return `${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(selector)}`;
};

const headersOf = (random: Random): (readonly [string, string])[] =>
  Array.from({ length: random.below(6) }, () => one(random, HEADERS));

/** What goes over one connection of HTTP/1.1: a request, nearly one, two at the same time, or none at all. */
export const fuzzHttp1 = (random: Random): Buffer => {
  if (chance(random, 0.1)) return bytes(random, 300);
  const end = one(random, ['\r\n', '\r\n', '\r\n', '\n', '\r']);
  const version = one(random, [
    'HTTP/1.1',
    'HTTP/1.1',
    'HTTP/1.1',
    'HTTP/1.0',
    'HTTP/2.0',
    'HTTP/9',
    'x',
    '',
  ]);
  const lines = [
    `${one(random, METHODS)} ${pathOf(random)} ${version}`,
    ...(chance(random, 0.8) ? ['Host: x'] : []),
    ...headersOf(random).map(
      ([name, value]) => `${name}${one(random, [': ', ': ', ':', ' : ', '\t:', ''])}${value}`,
    ),
    ...(chance(random, 0.05) ? [' folded', '\0: x', ': x', 'é: ü'] : []),
  ];
  const text = `${lines.join(end)}${end}${end}${one(random, BODIES)}`;
  const whole = Buffer.from(chance(random, 0.1) ? text.repeat(2) : text, 'latin1');
  if (chance(random, 0.85)) return whole;
  const spoilt = Buffer.from(whole);
  for (let n = 0; n < 3; n += 1) spoilt[random.below(spoilt.length)] = random.below(256);
  return spoilt;
};

/** In HTTP/2 these are no headers, or too long for a frame: a request with one is refused before it is examined. */
const REFUSED_BY_HTTP2 = new Set(
  'host content-length transfer-encoding connection upgrade x-long'.split(' '),
);

/** Most are requests that a handler gets to see; the others break a rule of HTTP/2. */
const fieldsOf = (random: Random): HeaderField[] => {
  const isSane = chance(random, 0.85);
  const headers = headersOf(random).filter(([name]) => !isSane || !REFUSED_BY_HTTP2.has(name));
  const fields: HeaderField[] = [
    { name: ':method', value: one(random, isSane ? METHODS.slice(0, SANE_METHODS) : METHODS) },
    { name: ':scheme', value: isSane ? 'https' : one(random, ['https', 'http', '']) },
    { name: ':path', value: pathOf(random) },
    ...headers.map(([name, value]) => ({ name, value })),
  ];
  if (isSane) return fields;
  if (chance(random, 0.5)) fields.splice(random.below(fields.length), 1);
  if (chance(random, 0.3)) fields.push({ name: ':path', value: '/late' });
  if (chance(random, 0.3)) fields.push({ name: one(random, ['', 'A', 'a b', 'a\r\nb']), value: 'x\r\ny' });
  return fields;
};

/** Frames for a connection of HTTP/2 whose next stream is `streamId`. */
export const fuzzHttp2 = (random: Random, streamId: number): FrameInput => {
  const whole = (frames: readonly Buffer[]): FrameInput => ({ bytes: Buffer.concat(frames), isLast: false });
  const anyId = (): number => one(random, [0, 1, streamId, streamId, streamId + 2, 2, 0x7fffffff]);
  const odd = (): Buffer => frame(random.below(12), random.below(256), anyId(), bytes(random, 60));
  if (chance(random, 0.02)) return { bytes: bytes(random, 200), isLast: true };
  if (chance(random, 0.08)) return whole(Array.from({ length: 1 + random.below(4) }, odd));
  const block = encodeHeaders(fieldsOf(random));
  const hasBody = chance(random, 0.3);
  const sane = FLAG.endHeaders | (hasBody ? 0 : FLAG.endStream);
  const parts = [frame(1, chance(random, 0.95) ? sane : random.below(256), streamId, block)];
  if (hasBody) {
    const flags = chance(random, 0.9) ? FLAG.endStream : random.below(256);
    parts.push(frame(0, flags, streamId, Buffer.from(one(random, BODIES), 'latin1')));
  }
  if (chance(random, 0.1)) parts.push(frame(3, 0, streamId, Buffer.from([0, 0, 0, random.below(14)])));
  if (chance(random, 0.03)) parts.push(odd());
  return whole(parts);
};
