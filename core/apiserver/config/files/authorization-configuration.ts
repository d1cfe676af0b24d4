import { isAbsolute } from 'node:path';
import { parseDurationMs } from '../../../base/duration.ts';
import { child, type FieldPath } from '../../../api/field/field-path.ts';
import {
  duplicate,
  invalid,
  notSupported,
  required,
  type FieldError,
  type FieldErrorList,
} from '../../../api/field/field-error.ts';
import { isDns1123Subdomain } from '../../../api/field/formats.ts';
import { fieldsOf, isAbsent, listOf, readDocument, textOf, type Fields } from './strict-fields.ts';

export const AUTHORIZER_TYPES = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const;
export type AuthorizerType = (typeof AUTHORIZER_TYPES)[number];

/** A webhook of upstream's AuthorizationConfiguration, or of the flags. */
export interface AuthorizationWebhook {
  readonly timeoutMs: number;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly version: 'v1' | 'v1beta1';
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  readonly kubeconfigFile: string;
  readonly matchConditions: readonly string[];
}

export interface AuthorizerEntry {
  readonly type: AuthorizerType;
  readonly name: string;
  readonly webhook?: AuthorizationWebhook;
}

const SECOND_MS = 1000;
const TIMEOUT_MS_MAX = 30 * SECOND_MS;
const WEBHOOK_FIELDS = [
  'timeout',
  'authorizedTTL',
  'cacheAuthorizedRequests',
  'unauthorizedTTL',
  'cacheUnauthorizedRequests',
  'subjectAccessReviewVersion',
  'matchConditionSubjectAccessReviewVersion',
  'failurePolicy',
  'connectionInfo',
  'matchConditions',
];

interface Reading {
  readonly fields: Fields;
  readonly path: FieldPath;
  readonly errors: FieldError[];
}

const isOneOf = <const T extends string>(value: string, choices: readonly T[]): value is T =>
  (choices as readonly string[]).includes(value);

const readChoice = <const T extends string>(
  { fields, path, errors }: Reading,
  name: string,
  choices: readonly T[],
): T => {
  const value = textOf(fields, path, name);
  if (isOneOf(value, choices)) return value;
  errors.push(value === '' ? required(child(path, name)) : notSupported(child(path, name), value, choices));
  return choices[0]!;
};

const readDuration = (
  { fields, path, errors }: Reading,
  name: string,
  { defaultMs, ...bounds }: { readonly defaultMs?: number; readonly maxMs?: number },
): number => {
  const text = textOf(fields, path, name);
  const at = child(path, name);
  if (text === '' && defaultMs !== undefined) return defaultMs;
  const ms = parseDurationMs(text === '' ? '0' : text);
  if (ms === 0) errors.push(required(at));
  else if (ms === undefined) errors.push(invalid(at, text, 'must be a duration such as 10s'));
  else if (ms < 0 || ms > (bounds.maxMs ?? Infinity))
    errors.push(invalid(at, text, bounds.maxMs === undefined ? 'must be > 0s' : 'must be > 0s and <= 30s'));
  return ms ?? 0;
};

const isCached = ({ fields }: Reading, name: string): boolean => fields[name] !== false;

const readConnection = ({ fields, path, errors }: Reading): string => {
  const where = child(path, 'connectionInfo');
  const value = fields['connectionInfo'];
  const connection = isAbsent(value) ? {} : fieldsOf(value, where, ['type', 'kubeConfigFile']);
  const type = textOf(connection, where, 'type');
  const file = textOf(connection, where, 'kubeConfigFile');
  if (type === '') errors.push(required(child(where, 'type')));
  else if (type === 'InClusterConfig')
    errors.push(
      invalid(child(where, 'type'), type, 'this API server does not run in a pod; use KubeConfigFile'),
    );
  else if (type !== 'KubeConfigFile')
    errors.push(notSupported(child(where, 'type'), type, ['InClusterConfig', 'KubeConfigFile']));
  else if (file === '') errors.push(required(child(where, 'kubeConfigFile')));
  else if (!isAbsolute(file))
    errors.push(invalid(child(where, 'kubeConfigFile'), file, 'must be an absolute path'));
  return file;
};

const readConditions = ({ fields, path, errors }: Reading): readonly string[] => {
  const where = child(path, 'matchConditions');
  const conditions = listOf(fields['matchConditions'], where).map((condition, at) => {
    const here = `${where}[${at}]`;
    return textOf(fieldsOf(condition, here, ['expression']), here, 'expression');
  });
  const version = textOf(fields, path, 'matchConditionSubjectAccessReviewVersion');
  const at = child(path, 'matchConditionSubjectAccessReviewVersion');
  if (version === '' && conditions.length > 0)
    errors.push(required(at, 'required if match conditions are specified'));
  if (version !== '' && version !== 'v1') errors.push(notSupported(at, version, ['v1']));
  return conditions;
};

/** Upstream reports the fields of a webhook below its authorizer. */
const readWebhook = (value: unknown, path: FieldPath, errors: FieldError[]): AuthorizationWebhook => {
  const reading = { fields: fieldsOf(value, child(path, 'webhook'), WEBHOOK_FIELDS), path, errors };
  const timeoutMs = readDuration(reading, 'timeout', { maxMs: TIMEOUT_MS_MAX });
  const authorizedMs = readDuration(reading, 'authorizedTTL', { defaultMs: 5 * 60 * SECOND_MS });
  const unauthorizedMs = readDuration(reading, 'unauthorizedTTL', { defaultMs: 30 * SECOND_MS });
  return {
    timeoutMs,
    authorizedTtlMs: isCached(reading, 'cacheAuthorizedRequests') ? authorizedMs : 0,
    unauthorizedTtlMs: isCached(reading, 'cacheUnauthorizedRequests') ? unauthorizedMs : 0,
    version: readChoice(reading, 'subjectAccessReviewVersion', ['v1', 'v1beta1']),
    failurePolicy: readChoice(reading, 'failurePolicy', ['NoOpinion', 'Deny']),
    kubeconfigFile: readConnection(reading),
    matchConditions: readConditions(reading),
  };
};

const readEntry = (
  value: unknown,
  path: FieldPath,
  { errors, seen }: { readonly errors: FieldError[]; readonly seen: readonly AuthorizerEntry[] },
): AuthorizerEntry | undefined => {
  const fields = fieldsOf(value, path, ['type', 'name', 'webhook']);
  const [type, name] = [textOf(fields, path, 'type'), textOf(fields, path, 'name')];
  if (type === '') return void errors.push(required(child(path, 'type')));
  if (!isOneOf(type, AUTHORIZER_TYPES))
    return void errors.push(notSupported(child(path, 'type'), type, AUTHORIZER_TYPES));
  if (type !== 'Webhook' && seen.some((one) => one.type === type))
    return void errors.push(duplicate(child(path, 'type'), type));
  const problems = isDns1123Subdomain(name);
  if (name === '') errors.push(required(child(path, 'name')));
  else if (seen.some((one) => one.name === name)) errors.push(duplicate(child(path, 'name'), name));
  else if (problems.length > 0)
    errors.push(invalid(child(path, 'name'), name, `authorizer name is invalid: ${problems.join(', ')}`));
  const hasWebhook = !isAbsent(fields['webhook']);
  if (type !== 'Webhook') {
    if (hasWebhook)
      errors.push(invalid(child(path, 'webhook'), 'non-null', 'may only be specified when type=Webhook'));
    return { type, name };
  }
  if (!hasWebhook) return void errors.push(required(child(path, 'webhook'), 'required when type=Webhook'));
  return { type, name, webhook: readWebhook(fields['webhook'], path, errors) };
};

/** Throws `BadConfiguration` for what cannot be read; fields that break a rule are in `errors`. */
export const parseAuthorizationConfiguration = (
  text: string,
): { readonly authorizers: readonly AuthorizerEntry[]; readonly errors: FieldErrorList } => {
  const document = readDocument(text, {
    kind: 'AuthorizationConfiguration',
    apiVersions: ['apiserver.config.k8s.io/v1', 'apiserver.config.k8s.io/v1beta1'],
    fields: ['authorizers'],
  });
  const errors: FieldError[] = [];
  const authorizers: AuthorizerEntry[] = [];
  const list = listOf(document['authorizers'], 'authorizers');
  if (list.length === 0)
    errors.push(required('authorizers', 'at least one authorization mode must be defined'));
  for (const [at, value] of list.entries()) {
    const entry = readEntry(value, `authorizers[${at}]`, { errors, seen: authorizers });
    if (entry) authorizers.push(entry);
  }
  return { authorizers, errors };
};
