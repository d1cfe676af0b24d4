import {
  NO_CLAIM,
  type ClaimOrExpression,
  type JwtAuthenticator,
} from '../../authn/oidc/jwt-authenticator.ts';

import {
  bad,
  fieldsOf,
  isAbsent,
  listOf,
  readDocument,
  textOf,
  textsOf,
  type Fields,
} from './strict-fields.ts';

/** Which requests without credentials are served. */
export interface AnonymousConfiguration {
  readonly enabled: boolean;
  /** Exact paths; absent: any. */
  readonly paths?: readonly string[];
}

/** Upstream's AuthenticationConfiguration. */
export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtAuthenticator[];
  /** Absent: the file leaves it to --anonymous-auth. */
  readonly anonymous?: AnonymousConfiguration;
}

const CONDITIONS_MAX = 64;
/** As upstream. */
const JWT_AUTHENTICATORS_MAX = 64;

const readPaths = (conditions: unknown): readonly string[] => {
  if (!Array.isArray(conditions) || conditions.length > CONDITIONS_MAX)
    return bad('anonymous.conditions', `must be a list of at most ${CONDITIONS_MAX} conditions`);
  return conditions.map((condition: unknown, at) => {
    const where = `anonymous.conditions[${at}]`;
    const { path } = fieldsOf(condition, where, ['path']);
    return typeof path === 'string' && path !== ''
      ? path
      : bad(`${where}.path`, 'must be a path such as /livez');
  });
};

const readAnonymous = (value: unknown): AnonymousConfiguration => {
  const { enabled = false, conditions = [] } = fieldsOf(value, 'anonymous', ['enabled', 'conditions']);
  if (typeof enabled !== 'boolean') return bad('anonymous.enabled', 'must be true or false');
  const paths = readPaths(conditions);
  if (!enabled && paths.length > 0)
    return bad('anonymous.conditions', 'enabled should be set to true when conditions are defined');
  return { enabled, ...(paths.length > 0 && { paths }) };
};

const readClaimOrExpression = (value: unknown, path: string): ClaimOrExpression => {
  if (isAbsent(value)) return NO_CLAIM;
  const names = ['claim', 'prefix', 'expression'] as const;
  const { claim, prefix, expression } = textsOf(value, path, names);
  return { claim, expression, prefix: isAbsent((value as Fields)['prefix']) ? undefined : prefix };
};

const readIssuer = (value: unknown, path: string): JwtAuthenticator['issuer'] => {
  const names = ['url', 'discoveryURL', 'certificateAuthority', 'audiences', 'audienceMatchPolicy'];
  const fields = isAbsent(value) ? {} : fieldsOf(value, path, [...names, 'egressSelectorType']);
  if (!isAbsent(fields['egressSelectorType']) && fields['egressSelectorType'] !== '')
    bad(`${path}.egressSelectorType`, 'this API server has no egress selector; remove the field');
  return {
    url: textOf(fields, path, 'url'),
    discoveryUrl: textOf(fields, path, 'discoveryURL'),
    certificateAuthority: textOf(fields, path, 'certificateAuthority'),
    audienceMatchPolicy: textOf(fields, path, 'audienceMatchPolicy'),
    audiences: listOf(fields['audiences'], `${path}.audiences`).map((audience, at) =>
      typeof audience === 'string' ? audience : bad(`${path}.audiences[${at}]`, 'must be a string'),
    ),
  };
};

const readJwt = (value: unknown, path: string): JwtAuthenticator => {
  const fields = fieldsOf(value, path, [
    'issuer',
    'claimValidationRules',
    'claimMappings',
    'userValidationRules',
  ]);
  const each = <T>(of: Fields, where: string, name: string, read: (one: unknown, at: string) => T): T[] =>
    listOf(of[name], `${where}.${name}`).map((one, at) => read(one, `${where}.${name}[${at}]`));
  const wheres = `${path}.claimMappings`;
  const mappings = isAbsent(fields['claimMappings'])
    ? {}
    : fieldsOf(fields['claimMappings'], wheres, ['username', 'groups', 'uid', 'extra']);
  return {
    issuer: readIssuer(fields['issuer'], `${path}.issuer`),
    claimValidationRules: each(fields, path, 'claimValidationRules', (rule, at) =>
      textsOf(rule, at, ['claim', 'requiredValue', 'expression', 'message']),
    ),
    claimMappings: {
      username: readClaimOrExpression(mappings['username'], `${wheres}.username`),
      groups: readClaimOrExpression(mappings['groups'], `${wheres}.groups`),
      uid: textsOf(mappings['uid'], `${wheres}.uid`, ['claim', 'expression']),
      extra: each(mappings, wheres, 'extra', (one, at) => textsOf(one, at, ['key', 'valueExpression'])),
    },
    userValidationRules: each(fields, path, 'userValidationRules', (rule, at) =>
      textsOf(rule, at, ['expression', 'message']),
    ),
  };
};

const readJwtList = (value: unknown): readonly JwtAuthenticator[] => {
  const list = listOf(value, 'jwt');
  if (list.length > JWT_AUTHENTICATORS_MAX)
    return bad('jwt', `Too many: ${list.length}: must have at most ${JWT_AUTHENTICATORS_MAX} items`);
  return list.map((one, at) => readJwt(one, `jwt[${at}]`));
};

/** Throws `BadConfiguration` that names the field. Rules that span fields are checked when it is compiled. */
export const parseAuthenticationConfiguration = (text: string): AuthenticationConfiguration => {
  const { jwt, anonymous } = readDocument(text, {
    kind: 'AuthenticationConfiguration',
    apiVersions: ['apiserver.config.k8s.io/v1', 'apiserver.config.k8s.io/v1beta1'],
    fields: ['jwt', 'anonymous'],
  });
  return { jwt: readJwtList(jwt), ...(!isAbsent(anonymous) && { anonymous: readAnonymous(anonymous) }) };
};
