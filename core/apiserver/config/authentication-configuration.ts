import { parseDocument } from 'yaml';
import { messageOf, ReasonError } from '../../base/errors.ts';

/** Which requests without credentials are served. */
export interface AnonymousConfiguration {
  readonly enabled: boolean;
  /** Exact paths; absent: any. */
  readonly paths?: readonly string[];
}

/** Upstream's AuthenticationConfiguration, as far as this server has what it configures. */
export interface AuthenticationConfiguration {
  /** Absent: the file leaves it to --anonymous-auth. */
  readonly anonymous?: AnonymousConfiguration;
}

const API_VERSIONS = ['apiserver.config.k8s.io/v1', 'apiserver.config.k8s.io/v1beta1'];
const KIND = 'AuthenticationConfiguration';
const TEXT_LENGTH_MAX = 1024 * 1024;
const CONDITIONS_MAX = 64;

type Fields = Readonly<Record<string, unknown>>;

const bad = (path: string, problem: string): never => {
  throw new ReasonError('BadConfiguration', path === '' ? problem : `${path}: ${problem}`);
};

/** An object with no other fields than these; upstream decodes strictly, too. */
const fieldsOf = (value: unknown, path: string, known: readonly string[]): Fields => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return bad(path, 'must be an object');
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  return unknown === undefined
    ? (value as Fields)
    : bad('', `unknown field "${path === '' ? '' : `${path}.`}${unknown}"`);
};

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

/** Throws `BadConfiguration` that names the field. */
export const parseAuthenticationConfiguration = (text: string): AuthenticationConfiguration => {
  if (text.length > TEXT_LENGTH_MAX) return bad('', `is longer than ${TEXT_LENGTH_MAX} characters`);
  const document = parseDocument(text);
  if (document.errors.length > 0) return bad('', `is not valid YAML: ${messageOf(document.errors[0])}`);
  const { apiVersion, kind, jwt, anonymous } = fieldsOf(document.toJS({ maxAliasCount: 0 }), '', [
    'apiVersion',
    'kind',
    'jwt',
    'anonymous',
  ]);
  if (!API_VERSIONS.includes(String(apiVersion)) || kind !== KIND)
    return bad('', `is not a ${KIND} of ${API_VERSIONS.join(' or ')}`);
  if (Array.isArray(jwt) ? jwt.length > 0 : jwt !== undefined && jwt !== null)
    return bad('jwt', 'this API server does not authenticate tokens of other issuers; remove the field');
  return anonymous === undefined || anonymous === null ? {} : { anonymous: readAnonymous(anonymous) };
};
