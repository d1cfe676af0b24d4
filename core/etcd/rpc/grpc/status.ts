import { CODE, type CodeName, type Status } from '../../../base/node/grpc/codes.ts';
import { encodeHeaders } from '../../../base/node/http2/hpack.ts';

export { CODE, type CodeName, type Status };

export const OK: Status = { code: 'OK', text: '' };

/** Ends a call with a status; what any handler may throw. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: Status;

  constructor(code: CodeName, text: string, options?: { cause?: unknown }) {
    super(text, options);
    this.status = { code, text };
  }
}

/** grpc-message is percent-encoded: everything but printable ASCII, and the percent sign itself. */
export const percentEncode = (text: string): string =>
  text.replace(/[^ -$&-~]+/g, (run) =>
    Array.from(
      Buffer.from(run, 'utf8'),
      (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    ).join(''),
  );

/** Trailers are one frame; an error text of kilobytes helps no one. Encoded, a character takes up to 12 bytes. */
const TEXT_CHARACTERS_MAX = 1024;

const statusFields = ({ code, text }: Status) => [
  { name: 'grpc-status', value: String(CODE[code]) },
  { name: 'grpc-message', value: percentEncode(text.slice(0, TEXT_CHARACTERS_MAX)) },
];
const HEAD_FIELDS = [
  { name: ':status', value: '200' },
  { name: 'content-type', value: 'application/grpc' },
];

export const RESPONSE_HEAD: Buffer = encodeHeaders(HEAD_FIELDS);
export const OK_TRAILERS: Buffer = encodeHeaders(statusFields(OK));

/** What ends an answer whose head was sent. */
export const trailersOf = (status: Status): Buffer =>
  status.code === 'OK' ? OK_TRAILERS : encodeHeaders(statusFields(status));
/** A whole answer that consists of its end: nothing was sent before. */
export const trailersOnlyOf = (status: Status): Buffer =>
  encodeHeaders([...HEAD_FIELDS, ...statusFields(status)]);
