import { get } from 'node:https';
import { messageOf } from '../../../base/errors.ts';
import { limitedSignal } from '../../../base/node/limited-signal.ts';

/** Documents of issuers are a few kilobytes. */
const BODY_BYTES_MAX = 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** Fetches a small document. Rejects with one line for anything but a complete 200. */
export type HttpsGet = (url: string, signal: AbortSignal, bearerToken?: string) => Promise<string>;

export interface HttpsGetOptions {
  /** PEM; absent: the authorities that the machine trusts. */
  readonly certificateAuthority?: string;
}

/** Follows no redirects: keys come from where the issuer says they are. */
export const createHttpsGet =
  ({ certificateAuthority }: HttpsGetOptions): HttpsGet =>
  (url, signal, bearerToken = '') =>
    new Promise((resolve, reject) => {
      const limited = limitedSignal(signal, TIMEOUT_MS);
      const fail = (cause: unknown): void => {
        limited.dispose();
        reject(new Error(`Get "${url}": ${messageOf(cause)}`, { cause }));
      };
      const request = get(
        url,
        {
          ...(certificateAuthority !== undefined && { ca: certificateAuthority }),
          signal: limited.signal,
          agent: false,
          headers: {
            accept: 'application/json',
            ...(bearerToken !== '' && { authorization: `Bearer ${bearerToken}` }),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > BODY_BYTES_MAX)
              request.destroy(new Error(`the response is larger than ${BODY_BYTES_MAX} bytes`));
            else chunks.push(chunk);
          });
          response.once('error', fail);
          response.once('end', () => {
            limited.dispose();
            if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString('utf8'));
            else fail(new Error(`${response.statusCode} ${response.statusMessage}`));
          });
        },
      );
      request.once('error', fail);
    });
