import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import * as v from 'valibot';
import { ReasonError } from '../../core/base/errors.ts';
import { jsonFault, schemaFault } from '../../core/base/parse-fault.ts';

const RELEASES_MAX = 100;
const NOTES_CHARACTERS_MAX = 20_000;
const FILES_MAX = 40;
/** Of an Ed25519 public key in a SubjectPublicKeyInfo, before its 32 bytes (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const PUBLIC_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

const VERSION = /^\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z.]{1,32})?$/;
const httpsUrl = v.pipe(v.string(), v.maxLength(2048), v.url(), v.startsWith('https://'));

const feedSchema = v.object({
  product: v.literal('pilothouse'),
  /** Grows with every signing, so that an old feed cannot be passed off as the newest. */
  sequence: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** After it the feed proves nothing about what is newest. */
  expires: v.pipe(v.string(), v.isoTimestamp()),
  releases: v.pipe(
    v.array(
      v.object({
        version: v.pipe(v.string(), v.regex(VERSION)),
        date: v.pipe(v.string(), v.isoDate()),
        /** Markdown, as in CHANGELOG.md. */
        notes: v.pipe(v.string(), v.maxLength(NOTES_CHARACTERS_MAX)),
        files: v.pipe(
          v.array(
            v.object({
              platform: v.string(),
              arch: v.string(),
              url: httpsUrl,
              sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
              bytes: v.pipe(v.number(), v.integer(), v.minValue(0)),
            }),
          ),
          v.maxLength(FILES_MAX),
        ),
      }),
    ),
    v.minLength(1),
    v.maxLength(RELEASES_MAX),
  ),
});
export type UpdateFeed = v.InferOutput<typeof feedSchema>;
export type FeedRelease = UpdateFeed['releases'][number];

const bad = (message: string): ReasonError<'BadFeed'> => new ReasonError('BadFeed', message);

/** A public key as the settings hold it: 32 bytes in base64. */
export const parsePublicKey = (text: string): KeyObject => {
  const raw = Buffer.from(text.trim(), 'base64');
  if (raw.length !== PUBLIC_KEY_BYTES)
    throw bad('the public key of the update feed must be 32 bytes in base64, as npm run feed prints it');
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' });
};

/** The feed, once its signature, shape and age are right. `seenSequence`: the highest that was ever accepted. */
export const openFeed = (input: {
  readonly bytes: Uint8Array;
  /** Base64. */
  readonly signature: string;
  readonly publicKey: string;
  readonly nowMs: number;
  readonly seenSequence: number;
}): UpdateFeed => {
  const signature = Buffer.from(input.signature.trim(), 'base64');
  const isSigned =
    signature.length === SIGNATURE_BYTES &&
    verify(null, input.bytes, parsePublicKey(input.publicKey), signature);
  if (!isSigned) throw bad('the update feed is not signed with the configured key; nothing in it was used');
  const text = new TextDecoder().decode(input.bytes);
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw bad(`the update feed is not valid JSON: ${jsonFault(text)}`);
  }
  const parsed = v.safeParse(feedSchema, document);
  if (!parsed.success) throw bad(`the update feed: ${schemaFault(parsed.issues)}`);
  const { expires, sequence } = parsed.output;
  if (Date.parse(expires) <= input.nowMs)
    throw bad(`the update feed expired at ${expires}; its host must sign a new one`);
  if (sequence < input.seenSequence)
    throw bad(`the update feed is older (${sequence}) than one that was seen before (${input.seenSequence})`);
  return parsed.output;
};

/** Semantic Versioning, section 11: numbers first, a pre-release before its release, its parts one by one. */
export const compareVersions = (a: string, b: string): number => {
  const split = (text: string): { numbers: number[]; pre: string[] } => {
    const [core = '', pre] = text.split(/-(.*)/s);
    return { numbers: core.split('.').map(Number), pre: pre === undefined ? [] : pre.split('.') };
  };
  const [left, right] = [split(a), split(b)];
  for (const [at, number] of left.numbers.entries()) {
    const difference = number - (right.numbers[at] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  if (left.pre.length === 0 || right.pre.length === 0) return Math.sign(right.pre.length - left.pre.length);
  for (let at = 0; at < Math.max(left.pre.length, right.pre.length); at += 1) {
    const [one, other] = [left.pre[at], right.pre[at]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    if (one === other) continue;
    const [n, m] = [Number(one), Number(other)];
    if (Number.isInteger(n) && Number.isInteger(m)) return Math.sign(n - m);
    if (Number.isInteger(n) !== Number.isInteger(m)) return Number.isInteger(n) ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return 0;
};

/** Releases that are newer than the one that runs, newest first. A pre-release is offered only to one. */
export const newerReleases = (feed: UpdateFeed, current: string): FeedRelease[] =>
  feed.releases
    .filter(
      ({ version }) =>
        compareVersions(version, current) > 0 && (!version.includes('-') || current.includes('-')),
    )
    .sort((a, b) => compareVersions(b.version, a.version));
