import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Registry as Metrics } from '../../base/metrics/index.ts';
import { isJsonObject, type GroupResource, type KubernetesObject } from '../../api/meta/index.ts';
import type { ObjectReader } from '../admission/object-reader.ts';
import {
  anonymousAuthenticator,
  authenticationStage,
  bearerTokenAuthenticator,
  ClientAuthorities,
  createServiceAccountTokens,
  createTokenSigner,
  frontProxyAuthenticator,
  unionAuthenticator,
  x509Authenticator,
  type Authenticator,
  type ServiceAccountTokens,
  type TokenObjectGetter,
  type TokenObjectKind,
  type TokenSigner,
} from '../authn/index.ts';
import {
  alwaysAllow,
  nodeAuthorizer,
  NodeGraph,
  nodeRules,
  PolicyIndex,
  privilegedGroups,
  rbacAuthorizer,
  unionAuthorizer,
  type Authorizer,
} from '../authz/index.ts';
import {
  parseAuthenticationConfiguration,
  type AnonymousConfiguration,
} from '../config/authentication-configuration.ts';
import type { ApiServerConfig } from '../config/config.ts';
import type { Stage } from '../server/index.ts';
import type { LoadedCertificates, TokenKeys } from './certificates.ts';

const TOKEN_RESOURCES: Readonly<Record<TokenObjectKind, GroupResource>> = {
  ServiceAccount: { group: '', resource: 'serviceaccounts' },
  Pod: { group: '', resource: 'pods' },
  Secret: { group: '', resource: 'secrets' },
  Node: { group: '', resource: 'nodes' },
};

const NOT_NAMESPACED: readonly TokenObjectKind[] = ['Node'];

/** Set by the controller that cleans up tokens of secrets which nobody uses. */
const INVALID_SINCE_LABEL = 'kubernetes.io/legacy-token-invalid-since';

const tokenIn = ({ data }: KubernetesObject): string => {
  const encoded = isJsonObject(data) ? data['token'] : undefined;
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : '';
};

/** What tokens are bound to, from the caches; what is not there yet is asked of etcd before a token is refused. */
const tokenObjects =
  (reader: () => ObjectReader): TokenObjectGetter =>
  async (kind, { namespace, name }) => {
    const resource = TOKEN_RESOURCES[kind];
    const where = NOT_NAMESPACED.includes(kind) ? '' : namespace;
    const object =
      (await reader().get(resource, where, name)) ??
      (await reader().get(resource, where, name, { live: true }));
    if (object === undefined) return undefined;
    const { uid = '', deletionTimestamp, labels } = object.metadata ?? {};
    return {
      uid,
      ...(kind === 'Secret' && { token: tokenIn(object), isMarkedInvalid: !!labels?.[INVALID_SINCE_LABEL] }),
      ...(deletionTimestamp !== undefined && { deletedAtMs: Date.parse(deletionTimestamp) }),
    };
  };

export interface Authentication {
  readonly stage: Stage;
  readonly tokens: ServiceAccountTokens;
  readonly sign: TokenSigner;
  /** After files were replaced. */
  setCertificates(loaded: LoadedCertificates): void;
}

/** Who is served without credentials: as the file says, else as the flag does. Throws one line that names the file. */
export const loadAnonymous = async (config: ApiServerConfig): Promise<AnonymousConfiguration> => {
  const file = config.authenticationConfigFile;
  if (file === '') return { enabled: config.anonymousAuth };
  try {
    const { anonymous } = parseAuthenticationConfiguration(await readFile(file, 'utf8'));
    if (anonymous && config.isAnonymousAuthGiven)
      throw new ReasonError(
        'BadConfiguration',
        'anonymous: --anonymous-auth flag cannot be set when anonymous field is configured in the file',
      );
    return anonymous ?? { enabled: config.anonymousAuth };
  } catch (cause) {
    throw new ReasonError('BadConfiguration', `--authentication-config ${file}: ${messageOf(cause)}`, {
      cause,
    });
  }
};

export interface AuthenticationParts {
  readonly config: ApiServerConfig;
  readonly certificates: LoadedCertificates;
  readonly keys: TokenKeys;
  readonly anonymous: AnonymousConfiguration;
  /** Asked when a token comes, after the registry is there. */
  readonly reader: () => ObjectReader;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

export const createAuthentication = (parts: AuthenticationParts): Authentication => {
  const { config, certificates, keys, anonymous, clock, metrics, log } = parts;
  const { issuers, audiences, tokenSecondsMax, extendsPodTokens } = config.serviceAccounts;
  const clients = new ClientAuthorities(certificates.clientCaPem, clock);
  const proxies = new ClientAuthorities(certificates.frontProxyCaPem, clock);
  const tokens = createServiceAccountTokens({
    issuers,
    ...(audiences.length > 0 && { audiences }),
    verificationKeys: keys.verification,
    getObject: tokenObjects(parts.reader),
    clock,
  });
  const { caFile: _caFile, ...headers } = config.frontProxy;
  const frontProxy = {
    authorities: proxies,
    ...headers,
    uidHeaders: headers.uidHeaders.length > 0 ? headers.uidHeaders : ['x-remote-uid'],
  };
  const authenticators: Authenticator[] = [
    ...(config.frontProxy.caFile === '' ? [] : [frontProxyAuthenticator(frontProxy)]),
    x509Authenticator(clients),
    bearerTokenAuthenticator([tokens.authenticate], clock),
  ];
  const stage = authenticationStage({
    authenticator: unionAuthenticator(authenticators),
    ...(anonymous.enabled && { anonymous: anonymousAuthenticator(anonymous) }),
    frontProxy,
    metrics,
    log,
  });
  const sign = createTokenSigner({
    issuer: issuers[0]!,
    privateKey: keys.signing,
    clock,
    extendsPodTokens,
    ...(tokenSecondsMax > 0 && { expirationSecondsMax: tokenSecondsMax }),
    ...(audiences.length > 0 && { audiences }),
  });
  return {
    stage,
    tokens,
    sign,
    setCertificates(loaded) {
      clients.setBundle(loaded.clientCaPem);
      proxies.setBundle(loaded.frontProxyCaPem);
    },
  };
};

export interface Authorization {
  readonly authorizer: Authorizer;
  readonly policy: PolicyIndex;
  readonly graph: NodeGraph;
}

export const createAuthorization = (config: ApiServerConfig): Authorization => {
  const policy = new PolicyIndex();
  const graph = new NodeGraph();
  const modes = {
    Node: nodeAuthorizer(graph, nodeRules(config.minor)),
    RBAC: rbacAuthorizer(policy),
    AlwaysAllow: alwaysAllow,
  };
  const authorizer = unionAuthorizer([
    privilegedGroups(),
    ...config.authorizationModes.map((mode) => modes[mode]),
  ]);
  return { authorizer, policy, graph };
};
