import { parseDocument } from 'yaml';
import { parseDurationMs } from '../../base/duration.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { GroupResource } from '../../api/meta/index.ts';

export interface NamedKey {
  readonly name: string;
  readonly secret: Uint8Array;
}

export interface KmsProvider {
  readonly type: 'kms';
  readonly name: string;
  /** Of the Unix socket; a leading `@` is Linux's abstract namespace. */
  readonly socketPath: string;
  readonly timeoutMs: number;
}

export type Provider =
  | { readonly type: 'aescbc' | 'aesgcm' | 'secretbox'; readonly keys: readonly NamedKey[] }
  | { readonly type: 'identity' }
  | KmsProvider;

export interface ResourceRule {
  /** `*` stands for any. */
  readonly resources: readonly GroupResource[];
  readonly providers: readonly Provider[];
}

export interface EncryptionConfiguration {
  readonly rules: readonly ResourceRule[];
}

const API_VERSION = 'apiserver.config.k8s.io/v1';
const KIND = 'EncryptionConfiguration';
const TEXT_LENGTH_MAX = 1024 * 1024;
const KMS_TIMEOUT = '3s';
const AES_KEY_BYTES = [16, 24, 32];
const SECRETBOX_KEY_BYTES = [32];
const KEYED = ['aescbc', 'aesgcm', 'secretbox'] as const;
const PROVIDERS = [...KEYED, 'identity', 'kms'] as const;
/** Kept by API servers for themselves. */
const WITHOUT_API = ['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations'];

type Fields = Readonly<Record<string, unknown>>;

/** Collects every problem of a file, in upstream's words. */
class Problems {
  readonly #texts: string[] = [];

  invalid(path: string, value: unknown, text: string): void {
    this.#texts.push(`${path}: Invalid value: ${JSON.stringify(value)}: ${text}`);
  }

  required(path: string, text: string): void {
    this.#texts.push(`${path}: Required value: ${text}`);
  }

  throwAny(): void {
    if (this.#texts.length === 0) return;
    const text = this.#texts.length === 1 ? this.#texts[0]! : `[${this.#texts.join(', ')}]`;
    throw new ReasonError('BadConfiguration', text);
  }
}

const bad = (text: string): never => {
  throw new ReasonError('BadConfiguration', text);
};

/** An object with no other fields than these; upstream decodes strictly, too. */
const fieldsOf = (value: unknown, path: string, known: readonly string[]): Fields => {
  if (value === null || value === undefined) return {};
  if (typeof value !== 'object' || Array.isArray(value)) return bad(`${path} must be an object`);
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  return unknown === undefined
    ? (value as Fields)
    : bad(`strict decoding error: unknown field "${path === '' ? '' : `${path}.`}${unknown}"`);
};

const listOf = (value: unknown, path: string): readonly unknown[] => {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? (value as readonly unknown[]) : bad(`${path} must be a list`);
};

const textOf = (value: unknown, path: string): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : bad(`${path} must be a string`);
};

/** `secrets`, `deployments.apps`, `*.apps`, `*.` and `*.*`. */
export const parseGroupResource = (text: string): GroupResource => {
  const dot = text.indexOf('.');
  return dot < 0
    ? { group: '', resource: text }
    : { group: text.slice(dot + 1), resource: text.slice(0, dot) };
};

const checkOverlap = (names: readonly string[], path: string, problems: Problems): void => {
  const resources = names.map(parseGroupResource);
  const pairs = resources.flatMap((a, i) => resources.slice(i + 1).map((b) => [a, b] as const));
  if (new Set(names).size < names.length)
    problems.invalid(path, names, 'the same resource cannot be specified multiple times');
  const covers = (a: GroupResource, b: GroupResource): boolean =>
    (a.group === '*' && a.resource === '*') || (a.group === b.group && a.resource === '*');
  if (
    pairs.some(
      ([a, b]) => (a.group !== b.group || a.resource !== b.resource) && (covers(a, b) || covers(b, a)),
    )
  )
    problems.invalid(
      path,
      names,
      "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
    );
};

const resourceProblem = (name: string): string | undefined => {
  const { group, resource } = parseGroupResource(name);
  if (name.toLowerCase() !== name) return 'resource name should not contain capital letters';
  if (name === '*')
    return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (WITHOUT_API.includes(name)) return 'resources which do not have REST API/s cannot be encrypted';
  if (group === 'events.k8s.io')
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption";
  if (group === '*' && resource !== '*') return 'encrypting the same resource across groups is not supported';
  return undefined;
};

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const readKeys = (
  value: unknown,
  path: string,
  sizes: readonly number[],
  problems: Problems,
): readonly NamedKey[] => {
  const keys = listOf(fieldsOf(value, path, ['keys'])['keys'], `${path}.keys`);
  if (keys.length === 0) problems.required(`${path}.keys`, 'at least one keys is required');
  return keys.map((one, at) => {
    const where = `${path}.keys[${at}]`;
    const fields = fieldsOf(one, where, ['name', 'secret']);
    const name = textOf(fields['name'], `${where}.name`);
    const encoded = textOf(fields['secret'], `${where}.secret`);
    if (name === '') problems.required(`${where}.name`, 'name is a mandatory field for a key');
    const secret = Buffer.from(encoded, 'base64');
    if (encoded === '') problems.required(`${where}.secret`, 'secret is a mandatory field for a key');
    else if (!BASE64.test(encoded))
      problems.invalid(`${where}.secret`, 'REDACTED', 'secrets must be base64 encoded');
    else if (!sizes.includes(secret.length))
      problems.invalid(
        `${where}.secret`,
        'REDACTED',
        `secret is not of the expected length, got ${secret.length}, expected one of [${sizes.join(' ')}]`,
      );
    return { name, secret };
  });
};

const SOCKET = /^unix:\/\/(.*)$/;

const readKms = (value: unknown, path: string, names: Set<string>, problems: Problems): KmsProvider => {
  const known = ['apiVersion', 'name', 'cachesize', 'endpoint', 'timeout'];
  const fields = fieldsOf(value, path, known);
  const name = textOf(fields['name'], `${path}.name`);
  const endpoint = textOf(fields['endpoint'], `${path}.endpoint`);
  const apiVersion = textOf(fields['apiVersion'], `${path}.apiVersion`) || 'v1';
  const timeout = textOf(fields['timeout'], `${path}.timeout`) || KMS_TIMEOUT;
  if (apiVersion === 'v1')
    bad(
      'KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  ' +
        'This API server does not support KMSv1; set apiVersion: v2',
    );
  if (apiVersion !== 'v2')
    problems.invalid(
      `${path}.apiVersion`,
      apiVersion,
      'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported',
    );
  if (name === '') problems.required(`${path}.name`, 'name is a mandatory field for a provider');
  if (name.includes(':'))
    problems.invalid(`${path}.name`, name, `invalid KMS provider name ${name}, must not contain ':'`);
  if (names.has(name))
    problems.invalid(`${path}.name`, name, `duplicate KMS provider name ${name}, names must be unique`);
  names.add(name);
  if (fields['cachesize'] !== undefined)
    problems.invalid(`${path}.cachesize`, fields['cachesize'], 'cachesize is not supported in v2');
  const timeoutMs = parseDurationMs(timeout) ?? 0;
  if (timeoutMs <= 0) problems.invalid(`${path}.timeout`, timeout, 'timeout should be a positive value');
  const socketPath = SOCKET.exec(endpoint)?.[1];
  if (endpoint === '') problems.invalid(`${path}.endpoint`, '', 'endpoint is a mandatory field for a kms');
  else if (socketPath === undefined || socketPath === '')
    problems.invalid(
      `${path}.endpoint`,
      endpoint,
      `unsupported scheme ${JSON.stringify(/^([a-z]+):/.exec(endpoint)?.[1] ?? '')} for KMS provider, only unix is supported`,
    );
  return { type: 'kms', name, socketPath: socketPath ?? '', timeoutMs };
};

const readProvider = (value: unknown, path: string, names: Set<string>, problems: Problems): Provider => {
  const fields = fieldsOf(value, path, PROVIDERS);
  const given = PROVIDERS.filter((name) => fields[name] !== undefined && fields[name] !== null);
  if (given.length === 0)
    problems.invalid(
      path,
      {},
      'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity',
    );
  if (given.length > 1)
    problems.invalid(
      path,
      given,
      'more than one provider specified in a single element, should split into different list elements',
    );
  const [type = 'identity'] = given;
  if (type === 'kms') return readKms(fields[type], `${path}.kms`, names, problems);
  if (type === 'identity') {
    fieldsOf(fields[type], `${path}.identity`, []);
    return { type };
  }
  const sizes = type === 'secretbox' ? SECRETBOX_KEY_BYTES : AES_KEY_BYTES;
  return { type, keys: readKeys(fields[type], `${path}.${type}`, sizes, problems) };
};

const grText = ({ group, resource }: GroupResource): string =>
  group === '' && resource !== '*' ? resource : `${resource}.${group}`;

/** A rule behind one that covers it would never be used. */
const checkMasked = (rules: readonly ResourceRule[]): void => {
  const seen = new Set<string>();
  for (const { resources } of rules)
    for (const one of resources) {
      const earlier = [`*.${one.group}`, '*.*'].find((rule) => seen.has(rule));
      if (earlier !== undefined)
        bad(`resource ${JSON.stringify(grText(one))} is masked by earlier rule ${JSON.stringify(earlier)}`);
      seen.add(`${one.resource}.${one.group}`);
    }
};

/** Throws `BadConfiguration` with all problems of the file. Secrets are never part of a text. */
export const parseEncryptionConfiguration = (text: string): EncryptionConfiguration => {
  if (text.length > TEXT_LENGTH_MAX) return bad(`is longer than ${TEXT_LENGTH_MAX} characters`);
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) return bad(`is not valid YAML: ${messageOf(document.errors[0])}`);
  const root = fieldsOf(document.toJS({ maxAliasCount: 0 }), '', ['apiVersion', 'kind', 'resources']);
  if (root['apiVersion'] !== API_VERSION || root['kind'] !== KIND)
    return bad(`is not an ${KIND} of ${API_VERSION}`);
  const problems = new Problems();
  const kmsNames = new Set<string>();
  const entries = listOf(root['resources'], 'resources');
  if (entries.length === 0) problems.required('resources', 'at least one resources is required');
  const rules = entries.map((entry, at): ResourceRule => {
    const path = `resources[${at}]`;
    const fields = fieldsOf(entry, path, ['resources', 'providers']);
    const names = listOf(fields['resources'], `${path}.resources`).map((name, index) =>
      textOf(name, `${path}.resources[${index}]`),
    );
    const providers = listOf(fields['providers'], `${path}.providers`);
    if (names.length === 0)
      problems.required(`${path}.resources`, `at least one ${path}.resources is required`);
    checkOverlap(names, `${path}.resources`, problems);
    names.forEach((name, index) => {
      const problem = resourceProblem(name);
      if (problem !== undefined) problems.invalid(`${path}.resources[${index}]`, name, problem);
    });
    if (providers.length === 0)
      problems.required(`${path}.providers`, `at least one ${path}.providers is required`);
    return {
      resources: names.map(parseGroupResource),
      providers: providers.map((provider, index) =>
        readProvider(provider, `${path}.providers[${index}]`, kmsNames, problems),
      ),
    };
  });
  problems.throwAny();
  checkMasked(rules);
  return { rules };
};
