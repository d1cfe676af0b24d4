import { readFileSync } from 'node:fs';
import { request as requestHttp, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { ReasonError } from '../../base/errors.ts';
import type { ExtenderConfig } from '../config/configuration.ts';
import type { PostJson } from './http-extender.ts';

/** An extender that answers with more is broken. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

const tlsOptions = ({ tlsConfig, enableHTTPS = false }: ExtenderConfig): Record<string, unknown> => {
  // As upstream: HTTPS without an authority to check it by is not checked.
  if (!tlsConfig) return enableHTTPS ? { rejectUnauthorized: false } : {};
  const load = (data: string | undefined, file: string | undefined): Buffer | undefined =>
    data ? Buffer.from(data, 'base64') : file ? readFileSync(file) : undefined;
  const ca = load(tlsConfig.caData, tlsConfig.caFile);
  const cert = load(tlsConfig.certData, tlsConfig.certFile);
  const key = load(tlsConfig.keyData, tlsConfig.keyFile);
  return {
    rejectUnauthorized: !tlsConfig.insecure && (ca !== undefined || !enableHTTPS),
    ...(tlsConfig.serverName && { servername: tlsConfig.serverName }),
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
  };
};

/** Talks to one extender over HTTP or HTTPS. */
export const postJsonTo = (config: ExtenderConfig): PostJson => {
  const tls = tlsOptions(config);
  return (url, body, timeoutMs) =>
    new Promise((resolve, reject) => {
      const isHttps = new URL(url).protocol === 'https:';
      const options: RequestOptions = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        signal: AbortSignal.timeout(timeoutMs),
      };
      const request = (isHttps ? requestHttps : requestHttp)(url, isHttps ? { ...options, ...tls } : options);
      request.on('error', reject);
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('error', reject);
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > ANSWER_BYTES_MAX) response.destroy(new Error(`${url} answers without end`));
        });
        response.on('end', () => {
          if (response.statusCode !== 200) {
            reject(new ReasonError('Refused', `failed ${url} with extender, code ${response.statusCode}`));
            return;
          }
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
          } catch (cause) {
            reject(new ReasonError('BadAnswer', `${url} did not answer with JSON`, { cause }));
          }
        });
      });
      request.end(JSON.stringify(body));
    });
};
