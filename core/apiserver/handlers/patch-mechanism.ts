import { ReasonError } from '../../base/errors.ts';
import {
  apiVersionOf,
  badRequest,
  conflict,
  formatTime,
  invalid,
  isJsonObject,
  jsonText,
  notFound,
  requestEntityTooLarge,
  StatusError,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import type { Decoded, DecodeWords } from '../../api/schema/index.ts';
import { applyJsonPatch } from '../../api/patch/json-patch.ts';
import { applyMergePatch } from '../../api/patch/merge-patch.ts';
import { applyStrategicMergePatch } from '../../api/patch/strategic-merge-patch.ts';
import { PatchError } from '../../api/patch/errors.ts';
import { typeNodeOf } from '../../api/patch/schema-types.ts';
import type { Json, JsonObject } from '../../api/patch/json.ts';
import { goValue } from '../../api/patch/json.ts';
import { causesOf, invalid as invalidField } from '../../api/field/field-error.ts';
import { judgeStrictErrors } from './decode-body.ts';
import type { HandlerCall } from './handler-call.ts';
import { trackUpdate } from './managed-fields.ts';
import type { PatchType } from './media-types.ts';
import { wipeSystemFields } from './object-checks.ts';
import { parseJson, parseYaml, type ParsedBody } from './parse-body.ts';
import type { MakeNext } from './update.ts';
import type { WriteOptions } from './write-options.ts';

/** What a patch makes of an object in the version of the path. */
export interface PatchRequest {
  readonly type: PatchType;
  readonly bytes: Uint8Array;
  readonly options: WriteOptions;
}

/** As upstream answers a patch that is well formed but not for this object. */
const UNPROCESSABLE_TEXT = 'the server rejected our request due to an error in our request';

const statusOf = (error: PatchError): StatusError => {
  switch (error.reason) {
    case 'PatchMalformed':
      return badRequest(error.message);
    case 'PatchTooLarge':
      return requestEntityTooLarge(error.message);
    case 'PatchDoesNotApply':
      return new StatusError('Invalid', UNPROCESSABLE_TEXT, { code: 422, details: {}, cause: error });
  }
};

const patched = <T>(apply: () => T): T => {
  try {
    return apply();
  } catch (error) {
    throw error instanceof PatchError ? statusOf(error) : error;
  }
};

/** Where fields are validated the patch is decoded once more, which has words of its own for a patch of another shape. */
const checkShape = ({ type, options }: PatchRequest, { value }: ParsedBody): void => {
  if (options.fieldValidation === 'Ignore' || value === null) return;
  const isList = Array.isArray(value);
  if (type === 'json' && !isList && isJsonObject(value))
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  if (type === 'merge' && isList)
    throw badRequest(
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    );
};

const parsePatch = (request: PatchRequest): ParsedBody => {
  const { type, bytes, options } = request;
  try {
    const parsed = type === 'apply' ? parseYaml(bytes) : parseJson(bytes);
    checkShape(request, parsed);
    return parsed;
  } catch (error) {
    if (!(error instanceof ReasonError) || error.reason !== 'BodyMalformed') throw error;
    if (type === 'apply') throw badRequest(`error decoding YAML: ${error.message}`);
    const isPlain = type === 'strategic' || options.fieldValidation === 'Ignore';
    throw badRequest(isPlain ? error.message : `error decoding patch: ${error.message}`);
  }
};

const notThere = ({ endpoint, name }: HandlerCall): StatusError => notFound(endpoint.resource, name);

/** The result must be an object of the kind; what it has beyond the type is judged as in a body. */
const decodePatched = (
  call: HandlerCall,
  result: Json,
  context: {
    readonly options: WriteOptions;
    readonly strictErrors: readonly string[];
    readonly shown: () => string;
    readonly words?: DecodeWords;
  },
): KubernetesObject => {
  const { endpoint, scope } = call;
  const refuse = (message: string): StatusError =>
    invalid({ group: '', kind: '' }, '', causesOf([invalidField('patch', context.shown(), message)]));
  if (!isJsonObject(result)) throw refuse('the patched object is not an object');
  if (endpoint.isCustom) checkCustomKind(endpoint, result, refuse);
  let decoded: Decoded;
  try {
    decoded = endpoint.decode(result, context.words);
  } catch (error) {
    if (error instanceof ReasonError) throw refuse(error.message);
    throw error;
  }
  judgeStrictErrors(
    [...context.strictErrors, ...decoded.strictErrors],
    { fieldValidation: context.options.fieldValidation, warn: (text) => scope.warn(text) },
    refuse,
  );
  const object: KubernetesObject = decoded.object;
  object.apiVersion = apiVersionOf(endpoint.kind);
  object.kind = endpoint.kind.kind;
  endpoint.complete(object);
  return object;
};

/** A custom object says itself what it is, so a patch can make it something else. */
const checkCustomKind = (
  { kind: expected }: HandlerCall['endpoint'],
  result: Record<string, unknown>,
  refuse: (message: string) => StatusError,
): void => {
  const { kind, apiVersion, metadata } = result;
  if (typeof kind !== 'string' || kind === '')
    throw refuse(`Object 'Kind' is missing in '${jsonText(result)}'`);
  const name = isJsonObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
  const wanted = apiVersionOf(expected);
  if (kind !== expected.kind)
    throw invalid(
      { group: expected.group, kind },
      name,
      causesOf([invalidField('kind', kind, `must be ${expected.kind}`)]),
    );
  if (apiVersion !== wanted)
    throw invalid(
      expected,
      name,
      causesOf([invalidField('apiVersion', apiVersion ?? '', `must be ${wanted}`)]),
    );
};

const duplicatesOf = (parsed: ParsedBody, { type, options }: PatchRequest): readonly string[] => {
  if (options.fieldValidation === 'Ignore') return [];
  const found = parsed.duplicates();
  return type === 'json' ? found.map((text) => `json patch ${text}`) : found;
};

/** JSON patch, merge patch and strategic merge patch: what is there is changed, and the sender owns the change. */
const patchInPlace = (call: HandlerCall, request: PatchRequest): MakeNext => {
  const { endpoint } = call;
  const { type, options } = request;
  const parsed = parsePatch(request);
  const strictErrors = duplicatesOf(parsed, request);
  const apply = (live: JsonObject): Json => {
    if (type === 'json') return applyJsonPatch(live, parsed.value);
    if (type === 'merge') return applyMergePatch(live, parsed.value);
    return applyStrategicMergePatch(live, parsed.value, typeNodeOf(endpoint.struct));
  };
  return (live) => {
    if (!live) throw notThere(call);
    const result = patched(() => apply(live as JsonObject));
    const shown = (): string => {
      if (type === 'strategic') return goValue(parsed.value as Json);
      return jsonText(endpoint.isCustom ? sortedJson(result) : result);
    };
    const words = type === 'strategic' ? 'converter' : 'json';
    const next = decodePatched(call, result, { options, strictErrors, shown, words });
    return trackUpdate(call, { live, next, fieldManager: options.fieldManager });
  };
};

const parseConfiguration = (request: PatchRequest): [config: JsonObject, parsed: ParsedBody] => {
  const parsed = parsePatch(request);
  if (!isJsonObject(parsed.value))
    throw badRequest(
      `error decoding YAML: json: cannot unmarshal into Go value of type map[string]interface {}`,
    );
  return [parsed.value as JsonObject, parsed];
};

/** Server-side apply: what the sender says is as it says, and what it said before and no longer does goes. */
const applyConfiguration = (call: HandlerCall, request: PatchRequest): MakeNext => {
  const { endpoint, services, scope } = call;
  const { options } = request;
  const [config, parsed] = parseConfiguration(request);
  // What is applied to a view never conflicts with the view, which no one owns a part of.
  const isView = endpoint.fields === undefined;
  const fields = endpoint.fields ?? endpoint.viewConfigurations;
  return (live) => {
    if (!fields) throw badRequest(`${endpoint.kind.kind} cannot be applied here`);
    const result = applied(() =>
      fields.apply({
        live: live as JsonObject | undefined,
        config,
        manager: options.fieldManager,
        force: isView || options.force,
        time: formatTime(services.clock.nowMs()),
      }),
    );
    judgeStrictErrors(
      options.fieldValidation === 'Ignore' ? [] : parsed.duplicates(),
      { fieldValidation: options.fieldValidation, warn: (text) => scope.warn(text) },
      (message) => badRequest(`error strict decoding YAML: ${message}`),
    );
    const next = decodePatched(call, result, {
      options,
      strictErrors: [],
      shown: () => jsonText(result),
    });
    if (!live) checkNew(call, next);
    return next;
  };
};

/**
 * What is applied to a Scale is applied to the object behind it, where others may own the replicas: every built-in
 * kind that can be scaled has them at the same place. Undefined where the endpoint is no view.
 */
export const applyBehindView = (
  { endpoint, services }: HandlerCall,
  request: PatchRequest,
): ((live: KubernetesObject, next: KubernetesObject) => KubernetesObject) | undefined => {
  const { viewedFields } = endpoint;
  if (!viewedFields) return undefined;
  const { fieldManager, force } = request.options;
  const [{ spec }] = parseConfiguration(request);
  const replicas = isJsonObject(spec) ? (spec as JsonObject)['replicas'] : undefined;
  return (live, next) => {
    const { name = '' } = live.metadata ?? {};
    const config: JsonObject = {
      apiVersion: live.apiVersion ?? '',
      kind: live.kind ?? '',
      metadata: { name },
      ...(replicas !== undefined && atPath(endpoint.replicasPath, replicas)),
    };
    const { metadata } = viewedFields.apply({
      live: live as JsonObject,
      config,
      manager: fieldManager,
      force,
      time: formatTime(services.clock.nowMs()),
    }) as unknown as KubernetesObject;
    const managedFields = metadata?.managedFields;
    return { ...next, metadata: { ...next.metadata, ...(managedFields && { managedFields }) } };
  };
};

/** Go writes the members of a map in the order of their names, and custom resources are maps to it. */
const sortedJson = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((item: Json) => sortedJson(item));
  if (!isJsonObject(value)) return value;
  const object = value as JsonObject;
  return Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((name) => [name, sortedJson(object[name]!)]),
  );
};

/** An object that holds one value, at a path. */
const atPath = (path: readonly string[], value: Json): JsonObject =>
  path.reduceRight<Json>((inside, name) => ({ [name]: inside }), value) as JsonObject;

const checkNew = ({ endpoint, name }: HandlerCall, next: KubernetesObject): void => {
  const meta = next.metadata ?? {};
  if (meta.uid)
    throw conflict(
      endpoint.resource,
      name,
      `uid mismatch: the provided object specified uid ${meta.uid}, and no existing object was found`,
    );
  wipeSystemFields(meta);
};

/**
 * A configuration that is not of its type is the client's mistake. Upstream has its text and lets it through as a failure
 * without a reason, 500 (kubernetes/kubernetes#139253), which clients take for one of the server and try again.
 */
const applied = <T>(apply: () => T): T => {
  try {
    return apply();
  } catch (error) {
    if (error instanceof ReasonError && error.reason === 'ConfigurationMistyped')
      throw badRequest(error.message);
    throw error;
  }
};

/** Reads the patch, and answers what makes the next object of a live one. */
export const patchMechanism = (call: HandlerCall, request: PatchRequest): MakeNext =>
  request.type === 'apply' ? applyConfiguration(call, request) : patchInPlace(call, request);
