import { ReasonError } from '../../base/errors.ts';
import {
  apiVersionOf,
  badRequest,
  invalid,
  isJsonObject,
  parseApiVersion,
  type GroupVersionKind,
  type KubernetesObject,
  type StatusError,
} from '../../api/meta/index.ts';
import { strictDecodingMessage } from '../../api/schema/index.ts';
import { causesOf, invalid as invalidField } from '../../api/field/field-error.ts';
import type { Endpoint } from './endpoint.ts';
import type { BodyEncoding } from './media-types.ts';
import { parseBody, type ParsedBody } from './parse-body.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface DecodeContext {
  readonly endpoint: Endpoint;
  readonly fieldValidation: FieldValidation;
  warn(text: string): void;
}

const SUMMARY_BYTES_MAX = 30;

/** Upstream shows the start of a body that it could not even tell the kind of. */
const summaryOf = (bytes: Uint8Array): string => {
  if (bytes.length === 0) return '<empty>';
  const head = Buffer.from(bytes.subarray(0, SUMMARY_BYTES_MAX));
  const shown = bytes[0] === 0x7b ? head.toString('utf8') : head.toString('hex');
  return bytes.length > SUMMARY_BYTES_MAX ? `${shown} ...` : shown;
};

const unrecognized = (kind: GroupVersionKind, bytes: Uint8Array, why: string): StatusError =>
  badRequest(
    `the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${summaryOf(bytes)})`,
  );

const cannotHandle = (given: GroupVersionKind, expected: GroupVersionKind, why: string): StatusError =>
  badRequest(
    `${given.kind} in version ${JSON.stringify(given.version)} cannot be handled as a ${expected.kind}: ${why}`,
  );

/** What a body says it is; what it leaves out is what the path says. */
const kindOfBody = (
  value: Record<string, unknown>,
  expected: GroupVersionKind,
): GroupVersionKind | undefined => {
  const { apiVersion = '', kind = '' } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const gv = parseApiVersion(apiVersion);
  if (!gv) return undefined;
  const isBare = gv.version === '' && (gv.group === '' || gv.group === expected.group);
  return {
    group: isBare ? expected.group : gv.group,
    version: isBare ? expected.version : gv.version,
    kind: kind === '' ? expected.kind : kind,
  };
};

const goKind = ({ version, kind }: GroupVersionKind): string => `${version}.${kind}`;
const internalPackage = ({ group }: GroupVersionKind): string =>
  group === '' ? 'core' : (group.split('.')[0] ?? group);

const checkKind = (
  given: GroupVersionKind,
  { kind: expected, findStruct, isCustom }: Endpoint,
  name: string,
): void => {
  if (given.kind === expected.kind && given.group === expected.group && given.version === expected.version)
    return;
  const isSameVersion = given.group === expected.group && given.version === expected.version;
  if (isCustom && isSameVersion)
    throw invalid(given, name, causesOf([invalidField('kind', given.kind, `must be ${expected.kind}`)]));
  if (!isCustom && !findStruct(given))
    throw cannotHandle(
      given,
      expected,
      `no kind "${given.kind}" is registered for version "${apiVersionOf(given)}" in scheme "pkg/api/legacyscheme/scheme.go:30"`,
    );
  if (!isCustom && given.kind !== expected.kind)
    throw cannotHandle(
      given,
      expected,
      `converting (${goKind(given)}) to (${internalPackage(expected)}.${expected.kind}): unknown conversion`,
    );
  throw badRequest(
    `the API version in the data (${apiVersionOf(given)}) does not match the expected API version (${apiVersionOf(expected)})`,
  );
};

/** Refuses, warns of, or lets pass what a type does not know. */
export const judgeStrictErrors = (
  errors: readonly string[],
  { fieldValidation, warn }: Pick<DecodeContext, 'fieldValidation' | 'warn'>,
  refuse: (message: string) => StatusError,
): void => {
  if (errors.length === 0 || fieldValidation === 'Ignore') return;
  if (fieldValidation === 'Strict') throw refuse(strictDecodingMessage(errors));
  errors.forEach((error) => warn(error));
};

/** A body whose kind is known to be right. Each `object()` is a tree of its own, which its taker may change. */
export interface DecodedBody {
  /** In the version of the path, with defaults. */
  object(): KubernetesObject;
}

export const decodeBody = (
  bytes: Uint8Array,
  encoding: BodyEncoding,
  context: DecodeContext,
): DecodedBody => {
  const { endpoint, fieldValidation } = context;
  const expected = endpoint.kind;
  let parsed: ParsedBody;
  try {
    parsed = parseBody(bytes, encoding, endpoint.findStruct);
  } catch (error) {
    if (!(error instanceof ReasonError) || error.reason !== 'BodyMalformed') throw error;
    throw unrecognized(expected, bytes, `couldn't get version/kind; json parse error: ${error.message}`);
  }
  const { value } = parsed;
  if (!isJsonObject(value))
    throw unrecognized(
      expected,
      bytes,
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${goTypeOf(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  const given = kindOfBody(value, expected);
  if (!given)
    throw unrecognized(expected, bytes, `unexpected GroupVersion string: ${String(value['apiVersion'])}`);
  if (endpoint.isCustom && !value['kind']) {
    // No Go type stands for a custom resource, so its kind cannot be taken from the path.
    const why = `Object 'Kind' is missing in '${Buffer.from(bytes).toString('utf8')}'`;
    throw fieldValidation === 'Ignore'
      ? cannotHandle(expected, expected, why)
      : unrecognized(expected, bytes, why);
  }
  checkKind(given, endpoint, nameIn(value));
  const duplicates = fieldValidation === 'Ignore' ? [] : parsed.duplicates();
  let isJudged = false;
  return {
    object() {
      const { object, strictErrors } = decodeOr(given, expected, () => endpoint.decode(value));
      if (!isJudged)
        judgeStrictErrors([...duplicates, ...strictErrors], context, (message) =>
          cannotHandle(given, expected, message),
        );
      isJudged = true;
      object['apiVersion'] = apiVersionOf(expected);
      object['kind'] = expected.kind;
      endpoint.complete(object);
      return object;
    },
  };
};

const nameIn = ({ metadata }: Record<string, unknown>): string => {
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : '';
};

const decodeOr = <T>(given: GroupVersionKind, expected: GroupVersionKind, decode: () => T): T => {
  try {
    return decode();
  } catch (error) {
    if (error instanceof ReasonError) throw cannotHandle(given, expected, error.message);
    throw error;
  }
};

const goTypeOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : value === null ? 'null' : typeof value;
};
