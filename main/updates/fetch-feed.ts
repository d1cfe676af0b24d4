import { request } from 'node:https';
import { messageOf, ReasonError } from '../../core/base/errors.ts';

const FEED_BYTES_MAX = 2 * 1024 * 1024;
const SIGNATURE_BYTES_MAX = 1024;
const REQUEST_MS_MAX = 20_000;
const HTTP_OK = 200;

export interface FetchedFeed {
  readonly bytes: Uint8Array;
  readonly signature: string;
}

const failed = (url: URL, why: string, cause?: unknown): ReasonError<'FeedUnreachable'> =>
  new ReasonError('FeedUnreachable', `cannot read the update feed ${url.href}: ${why}`, { cause });

/** No redirect is followed and nothing of the user is sent: no cookie, no name, no version. */
const read = (url: URL, bytesMax: number, ca: string | undefined): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const asked = request(
      url,
      { signal: AbortSignal.timeout(REQUEST_MS_MAX), agent: false, ...(ca !== undefined && { ca }) },
      (answer) => {
        if (answer.statusCode !== HTTP_OK) {
          answer.destroy();
          reject(failed(url, `the server returned ${answer.statusCode}`));
          return;
        }
        const chunks: Buffer[] = [];
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= bytesMax) return void chunks.push(chunk);
          answer.destroy();
          reject(failed(url, `it is larger than ${bytesMax} bytes`));
        });
        answer.on('end', () => resolve(Buffer.concat(chunks)));
        answer.on('error', (error) => reject(failed(url, messageOf(error), error)));
      },
    );
    asked.on('error', (error) => reject(failed(url, messageOf(error), error)));
    asked.end();
  });

/** `feed` is the URL of feed.json; its signature is the file beside it. `ca`: of a private authority. */
export const fetchFeed = async (feed: string, ca?: string): Promise<FetchedFeed> => {
  const url = URL.canParse(feed) ? new URL(feed) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new ReasonError('BadFeed', 'the update feed must be an https URL without credentials');
  const beside = new URL(url);
  beside.pathname += '.sig';
  const [bytes, signature] = await Promise.all([
    read(url, FEED_BYTES_MAX, ca),
    read(beside, SIGNATURE_BYTES_MAX, ca),
  ]);
  return { bytes, signature: signature.toString('utf8') };
};
