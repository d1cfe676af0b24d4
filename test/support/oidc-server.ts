import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createServer, request as httpsRequest, type Server } from 'node:https';
import { get as httpGet } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { testAuthority } from '../../core/client/testing/https-server.ts';

/**
 * A real OpenID Connect provider over HTTPS with one person. A browser gets a page to sign in on; a client that asks for no
 * HTML is signed in without it.
 */
export interface OidcServer {
  readonly issuer: string;
  readonly authorityPem: string;
  /** Takes requests and never answers them; `hanging` counts them. */
  isHanging: boolean;
  readonly hanging: number;
  /** Of ID tokens issued from now on. */
  idTokenSeconds: number;
  /** New keys sign and are published; the old ones are gone. */
  rotateKeys(): void;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** What a browser does with the address of a sign-in, up to the answer of the redirect's server. */
  browse(url: string): Promise<{ readonly code: number; readonly body: string }>;
}

export const OIDC_CLIENT = { id: 'kubernetes', email: 'ada@example.com', groups: ['pilots'] } as const;
const REDIRECTS_MAX = 20;

const signingKey = (): Record<string, unknown> => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  kid: randomUUID(),
  use: 'sig',
  alg: 'ES256',
});

export const startOidcServer = async (host: string): Promise<OidcServer> => {
  const authority = testAuthority();
  const { certificatePem, privateKeyPem } = authority.server(host);
  const cookieKeys = [randomBytes(32).toString('hex')];
  let hanging = 0;
  let listener: RequestListener = (_request, response) => void response.writeHead(503).end();
  const createTlsServer = (): Server =>
    createServer({ cert: certificatePem, key: privateKeyPem }, (request, response) => {
      if (made.isHanging) hanging += 1;
      else listener(request, response);
    });
  let server = createTlsServer();
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer = `https://${host}:${port}`;

  const createListener = (): RequestListener => {
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: OIDC_CLIENT.id,
          token_endpoint_auth_method: 'none',
          application_type: 'native',
          redirect_uris: ['http://localhost'],
          grant_types: ['authorization_code', 'refresh_token'],
          id_token_signed_response_alg: 'ES256',
        },
      ],
      jwks: { keys: [signingKey()] },
      cookies: { keys: cookieKeys },
      pkce: { required: () => true },
      claims: { openid: ['sub', 'email', 'groups'] },
      conformIdTokenClaims: false,
      ttl: { IdToken: () => made.idTokenSeconds },
      features: { devInteractions: { enabled: false } },
      interactions: { url: () => '/person' },
      findAccount: (_context: unknown, sub: string) => ({
        accountId: sub,
        claims: () => ({ sub, email: OIDC_CLIENT.email, groups: OIDC_CLIENT.groups }),
      }),
    });
    const serve = provider.callback();
    return (request, response) => {
      if (!request.url?.startsWith('/person')) return void serve(request, response);
      if (request.headers.accept?.includes('text/html') && !request.url.endsWith('?agreed'))
        return void response
          .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
          .end(`<!doctype html><title>Provider</title><a href="${request.url}?agreed">Continue as Ada</a>`);
      const agree = async (): Promise<void> => {
        const { params } = await provider.interactionDetails(request, response);
        const grant = new provider.Grant({ accountId: 'ada', clientId: OIDC_CLIENT.id });
        grant.addOIDCScope(params['scope'] ?? '');
        const grantId = await grant.save();
        await provider.interactionFinished(request, response, {
          login: { accountId: 'ada' },
          consent: { grantId },
        });
      };
      agree().catch((error: unknown) => void response.writeHead(500).end(String(error)));
    };
  };

  const made: OidcServer = {
    issuer,
    authorityPem: authority.root.certificatePem,
    isHanging: false,
    get hanging() {
      return hanging;
    },
    idTokenSeconds: 3600,
    rotateKeys: () => void (listener = createListener()),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    start() {
      server = createTlsServer();
      return listen(port);
    },
    browse: (url) => browse(url, authority.root.certificatePem),
  };
  listener = createListener();
  return made;
};

interface Page {
  readonly code: number;
  readonly location: string | undefined;
  readonly cookies: readonly string[];
  readonly body: string;
}

const load = (url: string, ca: string, cookie: string): Promise<Page> =>
  new Promise((resolve, reject) => {
    const ask = url.startsWith('https:')
      ? httpsRequest(url, { ca, agent: false, headers: { cookie } })
      : httpGet(url, { agent: false });
    ask.once('error', reject);
    ask.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () =>
        resolve({
          code: response.statusCode ?? 0,
          location: response.headers.location,
          cookies: response.headers['set-cookie'] ?? [],
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    ask.end();
  });

const browse = async (
  first: string,
  ca: string,
): Promise<{ readonly code: number; readonly body: string }> => {
  const jar = new Map<string, string>();
  let url = first;
  for (let step = 0; step < REDIRECTS_MAX; step += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const page = await load(url, ca, cookie);
    for (const set of page.cookies) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=');
      jar.set(name, value);
    }
    if (page.location === undefined) return page;
    url = new URL(page.location, url).toString();
  }
  throw new Error(`too many redirects from ${first}`);
};
