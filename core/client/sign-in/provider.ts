import { request } from 'node:https';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { limitedSignal } from '../../base/node/limited-signal.ts';
import { isJsonObject } from '../../api/meta/object-meta.ts';

const BODY_BYTES_MAX = 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** Which provider signs people in, and who asks it. */
export interface ProviderConfig {
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Empty for a public client, which proves itself by PKCE alone. */
  readonly clientSecret: string;
  /** Besides `openid`. */
  readonly extraScopes: readonly string[];
  /** PEM; empty: the authorities that the machine trusts. */
  readonly authorityPem: string;
}

export interface Provider {
  readonly authorizationEndpoint: string;
  /** Asks the token endpoint; rejects with what the provider says. */
  grant(parameters: Readonly<Record<string, string>>, signal: AbortSignal): Promise<TokenAnswer>;
}

export interface TokenAnswer {
  readonly idToken: string;
  readonly refreshToken: string;
}

export type SignInReason = 'BadProvider' | 'Denied' | 'BadToken' | 'CannotListen' | 'TimedOut';

export const signInError = (reason: SignInReason, message: string, cause?: unknown) =>
  new ReasonError<SignInReason>(reason, message, { cause });

interface Answer {
  readonly code: number;
  readonly body: unknown;
}

interface Question {
  readonly url: string;
  readonly authorityPem: string;
  readonly signal: AbortSignal;
  /** Sent as a form; absent: a GET. */
  readonly form?: URLSearchParams;
  readonly authorization?: string;
}

const ask = ({ url, authorityPem, signal, form, authorization }: Question): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const limited = limitedSignal(signal, TIMEOUT_MS);
    const fail = (cause: unknown): void => {
      limited.dispose();
      reject(signInError('BadProvider', `${url}: ${messageOf(cause)}`, cause));
    };
    if (!url.startsWith('https://')) return fail(new Error('the provider must be reached over https'));
    const asking = request(
      url,
      {
        method: form ? 'POST' : 'GET',
        agent: false,
        ...(authorityPem !== '' && { ca: authorityPem }),
        signal: limited.signal,
        headers: {
          accept: 'application/json',
          ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
          ...(authorization !== undefined && { authorization }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > BODY_BYTES_MAX)
            asking.destroy(new Error(`the response is larger than ${BODY_BYTES_MAX} bytes`));
          else chunks.push(chunk);
        });
        response.once('error', fail);
        response.once('end', () => {
          limited.dispose();
          try {
            const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
            resolve({ code: response.statusCode ?? 0, body });
          } catch (error) {
            fail(new Error(`${response.statusCode} ${response.statusMessage}, not JSON`, { cause: error }));
          }
        });
      },
    );
    asking.once('error', fail);
    asking.end(form?.toString());
  });

const textOf = (fields: Readonly<Record<string, unknown>>, name: string): string => {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
};

/** RFC 6749, section 2.3.1: both are form-encoded before they become a basic credential. */
const basic = (id: string, secret: string): string => {
  const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`;
};

/** Reads the provider's configuration. Rejects where it is not the one that was asked for. */
export const findProvider = async (config: ProviderConfig, signal: AbortSignal): Promise<Provider> => {
  const { issuerUrl, clientId, clientSecret, authorityPem } = config;
  const url = `${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { code, body } = await ask({ url, authorityPem, signal });
  if (code !== 200 || !isJsonObject(body))
    throw signInError('BadProvider', `${url}: answered ${code}; check the issuer URL`);
  const issuer = textOf(body, 'issuer');
  if (issuer !== issuerUrl)
    throw signInError('BadProvider', `${url}: the provider says it is "${issuer}", not "${issuerUrl}"`);
  const authorizationEndpoint = textOf(body, 'authorization_endpoint');
  const tokenEndpoint = textOf(body, 'token_endpoint');
  if (!authorizationEndpoint.startsWith('https://') || !tokenEndpoint.startsWith('https://'))
    throw signInError('BadProvider', `${url}: names no authorization or token endpoint over https`);
  const methods: unknown = body['token_endpoint_auth_methods_supported'];
  const postsSecret =
    Array.isArray(methods) &&
    methods.includes('client_secret_post') &&
    !methods.includes('client_secret_basic');
  return {
    authorizationEndpoint,
    async grant(parameters, signalOfCall) {
      const hasSecret = clientSecret !== '';
      const form = new URLSearchParams(parameters);
      if (!hasSecret || postsSecret) form.set('client_id', clientId);
      if (hasSecret && postsSecret) form.set('client_secret', clientSecret);
      const answer = await ask({
        url: tokenEndpoint,
        authorityPem,
        signal: signalOfCall,
        form,
        ...(hasSecret && !postsSecret && { authorization: basic(clientId, clientSecret) }),
      });
      const fields = isJsonObject(answer.body) ? answer.body : {};
      if (answer.code !== 200) {
        const why = textOf(fields, 'error_description') || textOf(fields, 'error') || String(answer.code);
        throw signInError('Denied', `the provider denied a token: ${why}`);
      }
      return { idToken: textOf(fields, 'id_token'), refreshToken: textOf(fields, 'refresh_token') };
    },
  };
};
