import { request as httpsRequest } from 'node:https';
import { connect as connectHttp2, constants, type ClientHttp2Session } from 'node:http2';
import { generateKeyPairSync } from 'node:crypto';
import { Registry } from '../../core/base/metrics/index.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { silentLog, type Log } from '../../core/base/log.ts';
import { pathNotFound } from '../../core/api/meta/index.ts';
import { createApiServer, type ApiServer } from '../../core/apiserver/server/api-server.ts';
import { endpointsStage } from '../../core/apiserver/server/endpoints.ts';
import { HealthRegistry } from '../../core/component/health.ts';
import type { ServerLimits } from '../../core/apiserver/server/limits.ts';
import type { Stage } from '../../core/apiserver/server/pipeline.ts';
import { anonymousAuthenticator } from '../../core/apiserver/authn/anonymous.ts';
import { authenticationStage } from '../../core/apiserver/authn/authentication-stage.ts';
import { bearerTokenAuthenticator } from '../../core/apiserver/authn/bearer-token.ts';
import { ClientAuthorities } from '../../core/apiserver/authn/client-authorities.ts';
import {
  createServiceAccountTokens,
  createTokenSigner,
  type TokenSigner,
} from '../../core/apiserver/authn/service-account-tokens.ts';
import { frontProxyAuthenticator } from '../../core/apiserver/authn/front-proxy.ts';
import { unionAuthenticator } from '../../core/apiserver/authn/authenticator.ts';
import { x509Authenticator } from '../../core/apiserver/authn/x509.ts';
import { authorizationStage } from '../../core/apiserver/authz/authorization-stage.ts';
import { bootstrapPolicy } from '../../core/apiserver/authz/bootstrap/bootstrap-policy.ts';
import { impersonationStage } from '../../core/apiserver/authz/impersonation-stage.ts';
import { PolicyIndex } from '../../core/apiserver/authz/rbac/policy-index.ts';
import { privilegedGroups, unionAuthorizer } from '../../core/apiserver/authz/authorizer.ts';
import { rbacAuthorizer } from '../../core/apiserver/authz/rbac/rbac-authorizer.ts';
import { maxInFlightStage } from '../../core/apiserver/flowcontrol/index.ts';
import {
  alternativeNames,
  createAuthority,
  issueLeaf,
  openAuthority,
  type Credential,
} from '../../core/pki/index.ts';

export const authority = createAuthority({ commonName: 'kubernetes', clock: systemClock });
export const proxyAuthority = createAuthority({ commonName: 'front-proxy-ca', clock: systemClock });
export const strangerAuthority = createAuthority({ commonName: 'stranger', clock: systemClock });

export const clientOf = (
  root: Credential,
  commonName: string,
  organizations: readonly string[] = [],
): Credential =>
  issueLeaf(openAuthority(root), {
    subject: { commonName, organizations },
    usages: ['client'],
    clock: systemClock,
  });

export const serverCredential = (): Credential =>
  issueLeaf(openAuthority(authority), {
    subject: { commonName: 'kube-apiserver' },
    usages: ['server'],
    alternativeNames: alternativeNames(['127.0.0.1']),
    clock: systemClock,
  });

export interface TestServer {
  readonly server: ApiServer;
  readonly port: number;
  readonly index: PolicyIndex;
  readonly sign: TokenSigner;
  readonly metrics: Registry;
}

export interface TestServerOptions {
  readonly handlers?: readonly Stage[];
  readonly limits?: Partial<ServerLimits>;
  readonly readOnlyMax?: number;
  readonly isAnonymousAllowed?: boolean;
  readonly log?: Log;
}

const ISSUER = 'https://kubernetes.default.svc';
const signingKey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

/** The stages as an API server has them, with `handlers` in the place of the API. */
export const startTestServer = async (options: TestServerOptions = {}): Promise<TestServer> => {
  const { log = silentLog } = options;
  const metrics = new Registry();
  const health = new HealthRegistry(log);
  const index = new PolicyIndex();
  const policy = bootstrapPolicy(36);
  policy.clusterRoles.forEach((role) => index.upsertClusterRole(role));
  policy.clusterRoleBindings.forEach((binding) => index.upsertClusterRoleBinding(binding));
  policy.roles.forEach((role) => index.upsertRole(role));
  policy.roleBindings.forEach((binding) => index.upsertRoleBinding(binding));
  const authorizer = unionAuthorizer([privilegedGroups(), rbacAuthorizer(index)]);
  const tokens = createServiceAccountTokens({
    issuers: [ISSUER],
    verificationKeys: [signingKey.publicKey],
    getObject: (kind, { name }) => ({ uid: `${kind}-${name}` }),
    clock: systemClock,
  });
  const stages: Stage[] = [
    authenticationStage({
      authenticator: unionAuthenticator([
        frontProxyAuthenticator({
          authorities: new ClientAuthorities(proxyAuthority.certificatePem, systemClock),
          allowedNames: ['front-proxy-client'],
        }),
        x509Authenticator(new ClientAuthorities(authority.certificatePem, systemClock)),
        bearerTokenAuthenticator([tokens.authenticate], systemClock),
      ]),
      ...(options.isAnonymousAllowed && { anonymous: anonymousAuthenticator() }),
      metrics,
      log,
    }),
    impersonationStage(authorizer),
    maxInFlightStage({
      metrics,
      ...(options.readOnlyMax !== undefined && { readOnlyMax: options.readOnlyMax }),
    }),
    authorizationStage({ authorizer, metrics, clock: systemClock }),
    endpointsStage({
      health,
      metrics,
      version: {
        major: '1',
        minor: '36',
        gitVersion: 'v1.36.0',
        gitCommit: 'none',
        gitTreeState: 'clean',
        buildDate: '2026-01-01T00:00:00Z',
        goVersion: 'none',
        compiler: 'none',
        platform: 'linux/amd64',
      },
    }),
    ...(options.handlers ?? []),
    {
      name: 'not-found',
      run() {
        throw pathNotFound();
      },
    },
  ];
  const credential = serverCredential();
  const server = createApiServer({
    certificates: {
      ...credential,
      clientAuthoritiesPem: [authority.certificatePem, proxyAuthority.certificatePem],
    },
    stages,
    health,
    metrics,
    clock: systemClock,
    log,
    ...(options.limits && { limits: options.limits }),
  });
  const { port } = await server.listen(0, '127.0.0.1');
  const sign = createTokenSigner({ issuer: ISSUER, privateKey: signingKey.privateKey, clock: systemClock });
  return { server, port, index, sign, metrics };
};

export interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface Ask {
  readonly port: number;
  readonly path: string;
  readonly method?: string;
  readonly credential?: Credential;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: Uint8Array | string;
}

const tlsOf = ({ credential }: Ask): { ca: string; cert?: string; key?: string } => ({
  ca: authority.certificatePem,
  ...(credential && { cert: credential.certificatePem, key: credential.privateKeyPem }),
});

const askHttp1 = (ask: Ask): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { port, path, method = 'GET', headers = {}, body } = ask;
    const sending = httpsRequest(
      { host: '127.0.0.1', port, path, method, headers: { ...headers }, agent: false, ...tlsOf(ask) },
      (message) => {
        const chunks: Buffer[] = [];
        message.on('data', (chunk: Buffer) => chunks.push(chunk));
        message.on('end', () =>
          resolve({ code: message.statusCode ?? 0, headers: message.headers, body: Buffer.concat(chunks) }),
        );
        message.on('error', reject);
      },
    );
    sending.on('error', reject);
    sending.end(body);
  });

export const openHttp2 = (port: number, credential?: Credential): ClientHttp2Session =>
  connectHttp2(`https://127.0.0.1:${port}`, tlsOf({ port, path: '', ...(credential && { credential }) }));

export const askOver = (session: ClientHttp2Session, ask: Omit<Ask, 'port'>): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { path, method = 'GET', headers = {}, body } = ask;
    const stream = session.request(
      { ':method': method, ':path': path, ...headers },
      { endStream: body === undefined },
    );
    let head: Record<string, string | string[] | undefined> = {};
    const chunks: Buffer[] = [];
    stream.on('response', (received) => {
      head = received as typeof head;
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    session.once('error', reject);
    stream.on('close', () => {
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) reject(new Error(`reset ${stream.rstCode}`));
      else resolve({ code: Number(head[':status']), headers: head, body: Buffer.concat(chunks) });
    });
    if (body !== undefined) stream.end(body);
  });

const askHttp2 = async (ask: Ask): Promise<Answer> => {
  const session = openHttp2(ask.port, ask.credential);
  try {
    return await askOver(session, ask);
  } finally {
    session.close();
  }
};

export const PROTOCOLS = [
  ['HTTP/1.1', askHttp1],
  ['HTTP/2.0', askHttp2],
] as const;
