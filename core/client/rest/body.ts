import { statusErrorFrom, type StatusError, type Status } from '../../api/meta/status.ts';
import { parseJsonText } from '../../api/meta/json-text.ts';
import { isJsonObject } from '../../api/meta/object-meta.ts';
import { ClientError } from './errors.ts';
import type { WireResponse } from './transport.ts';

/** Large enough for a list of all pods of a large cluster; a larger one is read in pages. */
export const ANSWER_BYTES_MAX = 512 * 1024 * 1024;
/** etcd holds no larger object than 1.5 MiB; custom encodings and metadata add to it. */
export const WATCH_LINE_BYTES_MAX = 16 * 1024 * 1024;
const ERROR_TEXT_CHARACTERS_MAX = 1024;

const tooLarge = (bytesMax: number): ClientError =>
  new ClientError('AnswerTooLarge', `the response is larger than ${bytesMax} bytes; paginate the list`);

export const readText = async (response: WireResponse, bytesMax = ANSWER_BYTES_MAX): Promise<string> => {
  try {
    const bytes = response.readAll
      ? await response.readAll(bytesMax)
      : await collect(response.body, bytesMax);
    if (bytes) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  } finally {
    response.dispose();
  }
  throw tooLarge(bytesMax);
};

const collect = async (
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array | undefined> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
};

const parsed = (parse: (text: string) => unknown, text: string, what: string): unknown => {
  try {
    return parse(text);
  } catch (cause) {
    throw new ClientError('MalformedAnswer', `${what} returned invalid JSON`, {
      cause,
    });
  }
};

/** An integer that a number cannot hold is rounded: what only decides must not meet a bigint in its arithmetic. */
export const parseJson = (text: string, what: string): unknown => parsed(JSON.parse, text, what);

/** Such an integer is a bigint: what shows or writes back whole objects must keep its digits. */
export const parseExactJson = (text: string, what: string): unknown => parsed(parseJsonText, text, what);

const retryAfterOf = (response: WireResponse): number | undefined => {
  const seconds = Number(response.headers['retry-after']);
  return Number.isInteger(seconds) && seconds >= 0 ? seconds : undefined;
};

/** The error of an answer that is none of 2xx: its Status, or one made of code and text as client-go does. */
export const errorOfAnswer = (response: WireResponse, text: string, what: string): StatusError => {
  const { status: code, headers } = response;
  if ((headers['content-type'] ?? '').includes('json')) {
    const body = safeParse(text);
    if (isJsonObject(body) && body['kind'] === 'Status' && body['status'] !== 'Success')
      return statusErrorFrom(body as Partial<Status>, code);
  }
  const retryAfterSeconds = retryAfterOf(response);
  const said = text.trim().slice(0, ERROR_TEXT_CHARACTERS_MAX);
  return statusErrorFrom(
    {
      message:
        code === 404
          ? 'the server could not find the requested resource'
          : `${what} returned ${code}${said === '' ? '' : `: ${said}`}`,
      ...(retryAfterSeconds !== undefined && { details: { retryAfterSeconds } }),
    },
    code,
  );
};

const safeParse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Lines of a watch, cut at newlines. A last line without one was torn by the connection's end and is dropped. */
export async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const piece = chunk.subarray(start, end);
      const line = pending.length === 0 ? piece : Buffer.concat([...pending, piece]);
      pending = [];
      pendingBytes = 0;
      start = end + 1;
      if (line.byteLength > 0) yield Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString();
    }
    if (start < chunk.byteLength) {
      pending.push(chunk.subarray(start));
      pendingBytes += chunk.byteLength - start;
      if (pendingBytes > WATCH_LINE_BYTES_MAX)
        throw new ClientError('AnswerTooLarge', `a watch event is larger than ${WATCH_LINE_BYTES_MAX} bytes`);
    }
  }
}
