import type { Random } from '../../core/base/random.ts';
import type { HostileInput } from './hostile-traffic.ts';

const pick = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)]!;

export const hostileBytes = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.below(256)));

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND'];
/** Bytes above 127 end a connection of Node's parser; they are rare, so that most inputs meet a handler. */
const TARGETS = [
  ...['/', '//', '/healthz', '/healthz/', '/livez?verbose', '/readyz?exclude=%', '/metrics', '/configz', '*'],
  ...['/%', '/%00', '/..%2f..', `/${'a/'.repeat(500)}`, '/debug/what-if', '/debug/explanations?limit=-1'],
  ...[
    '/?%E0%A4%A',
    'http://',
    'http://x:99999/',
    'https://[::1/',
    '/debug/pprof/../../metrics',
    '/x?a=%0d%0a',
  ],
];
const UNREADABLE_TARGETS = ['/\u00ff', '/healthz?\u00e9', '/a b', '', '/\t', 'x'];
const HEADERS = [
  ...['Authorization: Bearer ', 'Authorization: Bearer \u00ff', 'Authorization: Basic !!!'],
  `Authorization: Bearer ${'a.b.c'.repeat(200)}`,
  ...['X-Remote-User: system:admin', 'X-Remote-Group: system:masters', 'Impersonate-User: x'],
  ...['Range: bytes=9-1', 'Expect: 100-continue', 'Accept: */*;q=', 'Accept-Encoding: \u00ff', 'Cookie: =;='],
  ...[
    'If-None-Match: *',
    'Origin: null',
    'Sec-Fetch-Site: none',
    `X: ${'y'.repeat(2000)}`,
    'TE: trailers, x',
  ],
  ...['Connection: keep-alive, x', 'Content-Type: ;;', 'X-Forwarded-For: ::', '__proto__: x'],
];
const REJECTED_HEADERS = ['Expect: x', 'X Y: z', ': x', 'X: \u0000', 'Content-Length: 1', 'Host: y'];
const UPGRADES = ['h2c', 'websocket', 'websocket', 'SPDY/3.1', '\u00ff'];
/** With these a change to WebSocket is granted, and what follows is read as its frames. */
const WEBSOCKET = [
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol: v5.channel.k8s.io',
];

/** How many of a thousand make the other side end the connection: each costs a new one. */
const [UNREADABLE, UPGRADED, GARBAGE] = [20, 20, 20];

export interface RequestRules {
  /** Targets beside those that every listener gets. */
  readonly targets?: readonly string[];
  /** The lines that let a request in where a listener asks for something. */
  readonly headers?: readonly string[];
  readonly host?: string;
}

/** Bytes that are no request, or a request whose form is right and whose content is not. */
export const hostileInput = (random: Random, rules: RequestRules = {}): HostileInput => {
  const kind = random.below(1000);
  if (kind < GARBAGE) return { bytes: hostileBytes(random, 1 + random.below(200)), isLast: true };
  const isUnreadable = kind < GARBAGE + UNREADABLE;
  const method = pick(random, METHODS);
  const body = /^P(OST|UT|ATCH)$/.test(method) ? hostileBytes(random, random.below(64)) : Buffer.alloc(0);
  const targets = random.below(2) === 0 ? (rules.targets ?? TARGETS) : TARGETS;
  const lines = [
    `${method} ${pick(random, isUnreadable ? UNREADABLE_TARGETS : targets)} HTTP/1.1`,
    `Host: ${rules.host ?? 'x'}`,
    ...(body.length > 0 ? [`Content-Length: ${body.length}`] : []),
    ...Array.from({ length: random.below(3) }, () => pick(random, HEADERS)),
    ...(rules.headers ?? []).filter(() => random.below(2) === 0),
  ];
  if (isUnreadable) lines.push(pick(random, REJECTED_HEADERS));
  const isUpgrade = !isUnreadable && kind < GARBAGE + UNREADABLE + UPGRADED;
  if (isUpgrade) lines.push('Connection: Upgrade', `Upgrade: ${pick(random, UPGRADES)}`, ...WEBSOCKET);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const frames = isUpgrade ? hostileBytes(random, random.below(100)) : Buffer.alloc(0);
  return { bytes: Buffer.concat([head, body, frames]), isLast: isUnreadable || isUpgrade };
};
