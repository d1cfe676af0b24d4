import { readFile } from 'node:fs/promises';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { aggregateText, duplicate, type FieldError } from '../../api/field/field-error.ts';
import { tokenFileAuthenticator } from '../authn/token-file.ts';
import type { TokenAuthenticator } from '../authn/bearer-token.ts';
import { compileJwtAuthenticator, type CompiledAuthenticator } from '../authn/oidc/compile.ts';
import { JWT_ALGORITHMS, type JwtAlgorithm } from '../authn/jwt.ts';
import {
  parseAuthenticationConfiguration,
  type AnonymousConfiguration,
} from '../config/files/authentication-configuration.ts';
import type { ApiServerConfig } from '../config/config.ts';
import type { WebhookTarget } from '../webhook/target.ts';
import { kubeconfigTarget } from '../webhook/kubeconfig-target.ts';
import type { JwtAuthenticator } from '../authn/oidc/jwt-authenticator.ts';

/** What flags and files say about who is let in. */
export interface AuthenticationSettings {
  readonly anonymous: AnonymousConfiguration;
  readonly issuers: readonly CompiledAuthenticator[];
  readonly algorithms: readonly JwtAlgorithm[];
  /** Of --token-auth-file. */
  readonly tokenFile: TokenAuthenticator | undefined;
  /** Of --authentication-token-webhook-config-file; read at the start alone, as upstream. */
  readonly tokenWebhook: WebhookTarget | undefined;
}

const compileAll = async (
  authenticators: readonly JwtAuthenticator[],
  { path, disallowedIssuers }: { readonly path: string; readonly disallowedIssuers: readonly string[] },
): Promise<readonly CompiledAuthenticator[]> => {
  const errors: FieldError[] = [];
  const compiled: CompiledAuthenticator[] = [];
  const seen = { url: new Set<string>(), discoveryURL: new Set<string>() };
  for (const [at, authenticator] of authenticators.entries()) {
    const where = `${path}[${at}]`;
    const result = await compileJwtAuthenticator(authenticator, { path: where, disallowedIssuers });
    errors.push(...result.errors);
    const { url, discoveryUrl } = authenticator.issuer;
    for (const [name, value] of [
      ['url', url],
      ['discoveryURL', discoveryUrl],
    ] as const) {
      if (value !== '' && seen[name].has(value)) errors.push(duplicate(`${where}.issuer.${name}`, value));
      seen[name].add(value);
    }
    compiled.push(result.compiled);
  }
  if (errors.length > 0) throw new ReasonError('BadConfiguration', aggregateText(errors));
  return compiled;
};

const named = async <T>(flag: string, file: string, load: () => Promise<T>): Promise<T> => {
  try {
    return await load();
  } catch (cause) {
    throw new ReasonError('BadConfiguration', `--${flag} ${file}: ${messageOf(cause)}`, { cause });
  }
};

/** The classic --oidc-* flags are one entry of the file. */
const fromFlags = async ({ oidc }: ApiServerConfig): Promise<readonly JwtAuthenticator[]> => {
  if (oidc.issuerUrl === '') return [];
  const { issuerUrl: url, clientId, caFile, usernameClaim, usernamePrefix, groupsClaim, groupsPrefix } = oidc;
  // As upstream: names of another issuer must not meet names that exist here, unless an admin says so with "-".
  const ownPrefix = usernameClaim === 'email' ? '' : `${url}#`;
  const prefix = usernamePrefix === '-' ? '' : usernamePrefix === '' ? ownPrefix : usernamePrefix;
  return [
    {
      issuer: {
        url,
        discoveryUrl: '',
        audiences: [clientId],
        audienceMatchPolicy: '',
        certificateAuthority:
          caFile === '' ? '' : await named('oidc-ca-file', caFile, () => readFile(caFile, 'utf8')),
      },
      claimMappings: {
        username: { claim: usernameClaim, prefix, expression: '' },
        groups: { claim: groupsClaim, prefix: groupsClaim === '' ? undefined : groupsPrefix, expression: '' },
        uid: { claim: '', expression: '' },
        extra: [],
      },
      claimValidationRules: Object.entries(oidc.requiredClaims).map(([claim, requiredValue]) => ({
        claim,
        requiredValue,
        expression: '',
        message: '',
      })),
      userValidationRules: [],
    },
  ];
};

const fromFile = async (
  config: ApiServerConfig,
): Promise<{
  readonly anonymous: AnonymousConfiguration | undefined;
  readonly issuers: readonly CompiledAuthenticator[];
}> => {
  const { jwt, anonymous } = parseAuthenticationConfiguration(
    await readFile(config.authenticationConfigFile, 'utf8'),
  );
  if (anonymous && config.isAnonymousAuthGiven)
    throw new ReasonError(
      'BadConfiguration',
      'anonymous: --anonymous-auth flag cannot be set when anonymous field is configured in the file',
    );
  const disallowedIssuers = config.serviceAccounts.issuers;
  return { anonymous, issuers: await compileAll(jwt, { path: 'jwt', disallowedIssuers }) };
};

/** Reads every file that decides who is let in. Throws one line that names flag and file. */
export const loadAuthenticationSettings = async (
  config: ApiServerConfig,
): Promise<AuthenticationSettings> => {
  const { authenticationConfigFile: file, tokenFile, anonymousAuth } = config;
  const { kubeconfigFile } = config.tokenWebhook;
  const disallowedIssuers = config.serviceAccounts.issuers;
  const fileSettings =
    file === ''
      ? {
          anonymous: undefined,
          issuers: await compileAll(await fromFlags(config), { path: 'jwt', disallowedIssuers }),
        }
      : await named('authentication-config', file, () => fromFile(config));
  return {
    anonymous: fileSettings.anonymous ?? { enabled: anonymousAuth },
    issuers: fileSettings.issuers,
    // As upstream: the flags allow RS256 unless told otherwise, the file every algorithm there is.
    algorithms: file === '' ? config.oidc.algorithms : JWT_ALGORITHMS,
    tokenFile:
      tokenFile === ''
        ? undefined
        : await named('token-auth-file', tokenFile, async () =>
            tokenFileAuthenticator(await readFile(tokenFile, 'utf8')),
          ),
    tokenWebhook: kubeconfigFile === '' ? undefined : await kubeconfigTarget(kubeconfigFile),
  };
};
