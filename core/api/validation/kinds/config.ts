import { decodeBase64 } from '../base64.ts';
import { format, immutable } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { forbidden, invalid, required, tooLong } from '../../field/field-error.ts';
import { key } from '../../field/field-path.ts';
import { goJsonError } from '../../field/go-json-error.ts';
import { isConfigMapKey, nameIsDnsSubdomain } from '../../field/formats.ts';
import { byteLength } from '../../field/go-text.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { isTrue, obj, sameValue, str, strMap } from '../read.ts';
import type { KindRules } from '../rules.ts';

/** ConfigMaps, Secrets and ServiceAccounts. */

export const CONFIG_BYTES_MAX = 1_024 * 1_024;
const META = { namespaced: true, name: nameIsDnsSubdomain };
const FROZEN = 'field is immutable when `immutable` is set';

const decodedBytes = (text: string): number =>
  Math.floor((text.replace(/[\r\n]/g, '').replace(/=+$/, '').length * 3) / 4);

const keys = (path: string, values: Readonly<Record<string, string>>): FieldError[] =>
  Object.keys(values).flatMap((name) => format(key(path, name), name, isConfigMapKey));

function configMapErrors(object: Obj): FieldError[] {
  const [data, binary] = [strMap(object, 'data'), strMap(object, 'binaryData')];
  const bytes =
    Object.values(data).reduce((sum, value) => sum + byteLength(value), 0) +
    Object.values(binary).reduce((sum, value) => sum + decodedBytes(value), 0);
  return [
    ...keys('data', data),
    ...Object.keys(data).flatMap((name) =>
      Object.hasOwn(binary, name)
        ? [invalid(key('data', name), name, 'duplicate of key present in binaryData')]
        : [],
    ),
    ...keys('binaryData', binary),
    // Upstream names no field here.
    ...(bytes > CONFIG_BYTES_MAX ? [{ ...tooLong('', CONFIG_BYTES_MAX), field: '[]' }] : []),
  ];
}

function frozen(object: Obj, before: Obj, ...fields: readonly string[]): FieldError[] {
  if (!isTrue(before, 'immutable')) return [];
  return [
    ...(isTrue(object, 'immutable') ? [] : [forbidden('immutable', FROZEN)]),
    ...fields.flatMap((name) => (sameValue(object[name], before[name]) ? [] : [forbidden(name, FROZEN)])),
  ];
}

export const ConfigMapRules: KindRules = {
  ...META,
  create: (object) => [...objectMeta(object, META), ...configMapErrors(object)],
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...frozen(object, before, 'data', 'binaryData'),
    ...configMapErrors(object),
  ],
};

const SERVICE_ACCOUNT_NAME = 'kubernetes.io/service-account.name';

function secretOfType(secret: Obj): FieldError[] {
  const data = strMap(secret, 'data');
  const missing = (...names: readonly string[]): FieldError[] =>
    names.flatMap((name) => (Object.hasOwn(data, name) ? [] : [required(key('data', name))]));
  switch (str(secret, 'type')) {
    case 'kubernetes.io/service-account-token':
      return str(obj(obj(secret, 'metadata'), 'annotations'), SERVICE_ACCOUNT_NAME) === ''
        ? [required(key('metadata.annotations', SERVICE_ACCOUNT_NAME))]
        : [];
    case 'kubernetes.io/dockercfg':
      return missing('.dockercfg').length > 0 ? missing('.dockercfg') : jsonContent(data, '.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return missing('.dockerconfigjson').length > 0
        ? missing('.dockerconfigjson')
        : jsonContent(data, '.dockerconfigjson');
    case 'kubernetes.io/basic-auth':
      return missing('username', 'password').length === 2 ? missing('username', 'password') : [];
    case 'kubernetes.io/ssh-auth':
      return (data['ssh-privatekey'] ?? '') === '' ? [required(key('data', 'ssh-privatekey'))] : [];
    case 'kubernetes.io/tls':
      return missing('tls.crt', 'tls.key');
    default:
      return [];
  }
}

function jsonContent(data: Readonly<Record<string, string>>, name: string): FieldError[] {
  const text = decodeBase64(data[name] ?? '');
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [invalid(key('data', name), '<secret contents redacted>', goJsonError(text))];
  }
}

function secretErrors(secret: Obj): FieldError[] {
  const data = strMap(secret, 'data');
  const bytes = Object.values(data).reduce((sum, value) => sum + decodedBytes(value), 0);
  return [
    ...keys('data', data),
    ...(bytes > CONFIG_BYTES_MAX ? [tooLong('data', CONFIG_BYTES_MAX)] : []),
    ...secretOfType(secret),
  ];
}

export const SecretRules: KindRules = {
  ...META,
  create: (secret) => [...objectMeta(secret, META), ...secretErrors(secret)],
  update: (secret, before) => [
    ...objectMetaUpdate(secret, before),
    ...immutable('type', secret['type'], before['type']),
    ...frozen(secret, before, 'data'),
    ...objectMeta(secret, META),
    ...secretErrors(secret),
  ],
};

export const ServiceAccountRules: KindRules = {
  ...META,
  create: (account) => objectMeta(account, META),
  update: (account, before) => [...objectMetaUpdate(account, before), ...objectMeta(account, META)],
};
