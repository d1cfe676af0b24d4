import { invalid, isJsonObject, type KubernetesObject } from '../../api/meta/index.ts';
import { decodeObject, structOf } from '../../api/schema/index.ts';
import { causesOf, type FieldErrorList } from '../../api/field/field-error.ts';
import {
  deleteOptionsErrors,
  patchOptionsErrors,
  writeOptionsErrors,
} from '../../api/validation/request-options.ts';
import { ReasonError } from '../../base/errors.ts';
import { badRequest } from '../../api/meta/index.ts';
import type { FindStruct } from '../protobuf/index.ts';
import type { DeleteOptions } from '../registry/rest-storage.ts';
import type { FieldValidation } from './decode-body.ts';
import type { BodyEncoding, PatchType } from './media-types.ts';
import { parseBody } from './parse-body.ts';
import { flagOf, integerOf, textOf } from './query-values.ts';

const META_GROUP = 'meta.k8s.io';
const META_VERSION = 'meta.k8s.io/v1';

type WriteKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

export interface WriteOptions {
  readonly isDryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean;
  /** What admission is told, as an object of the given kind. */
  objectAs(kind: WriteKind): KubernetesObject;
}

const refuse = (kind: string, errors: FieldErrorList): void => {
  if (errors.length > 0) throw invalid({ group: META_GROUP, kind }, '', causesOf(errors));
};

/** CreateOptions, UpdateOptions or PatchOptions of a query. */
export const writeOptionsOf = (
  query: URLSearchParams,
  kind: WriteKind,
  patchType?: PatchType,
): WriteOptions => {
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const fieldManager = textOf(query, 'fieldManager');
  const fieldValidation = textOf(query, 'fieldValidation');
  const force = flagOf(query, 'force');
  const options: Record<string, unknown> = {
    ...(dryRun.length > 0 && { dryRun }),
    ...(fieldManager !== '' && { fieldManager }),
    ...(fieldValidation !== '' && { fieldValidation }),
  };
  const errors =
    patchType === undefined
      ? writeOptionsErrors(options)
      : patchOptionsErrors({ ...options, ...(force !== undefined && { force }) }, patchType === 'apply');
  refuse(kind, errors);
  return {
    isDryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    force: force ?? false,
    objectAs: (as) => ({ kind: as, apiVersion: META_VERSION, ...options }),
  };
};

export interface DeleteRequest {
  readonly options: Omit<DeleteOptions, 'validate'>;
  readonly object: KubernetesObject;
}

const queryObject = (query: URLSearchParams): Record<string, unknown> => {
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const gracePeriodSeconds = integerOf(query, 'gracePeriodSeconds');
  const orphanDependents = flagOf(query, 'orphanDependents');
  const propagationPolicy = query.get('propagationPolicy');
  return {
    ...(dryRun.length > 0 && { dryRun }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== null && { propagationPolicy }),
  };
};

const bodyObject = (
  bytes: Uint8Array,
  encoding: BodyEncoding,
  findStruct: FindStruct,
): Record<string, unknown> => {
  try {
    const { value } = parseBody(bytes, encoding, findStruct);
    if (!isJsonObject(value)) throw badRequest('decoded object cannot be converted to DeleteOptions');
    const { kind = '', apiVersion } = value;
    if (kind !== '' && kind !== 'DeleteOptions')
      throw badRequest(
        `no kind ${JSON.stringify(kind)} is registered for version "${typeof apiVersion === 'string' && apiVersion !== '' ? apiVersion : 'meta.k8s.io/v1'}" in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"`,
      );
    return decodeObject(structOf('meta.v1.DeleteOptions'), value).object;
  } catch (error) {
    if (error instanceof ReasonError && (error.reason === 'BodyMalformed' || error.reason === 'WrongType'))
      throw badRequest(error.message);
    throw error;
  }
};

/** DeleteOptions of the body, or of the query where there is no body, as upstream prefers them. */
export const deleteOptionsOf = (
  query: URLSearchParams,
  body: Uint8Array,
  encoding: () => BodyEncoding,
  findStruct: FindStruct,
): DeleteRequest => {
  const given = body.length > 0 ? bodyObject(body, encoding(), findStruct) : queryObject(query);
  refuse('DeleteOptions', deleteOptionsErrors(given));
  const { dryRun, gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions } = given as {
    dryRun?: string[];
    gracePeriodSeconds?: number;
    propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
    orphanDependents?: boolean;
    preconditions?: { uid?: string; resourceVersion?: string };
  };
  return {
    options: {
      dryRun: (dryRun?.length ?? 0) > 0,
      gracePeriodSeconds,
      propagationPolicy,
      orphanDependents,
      preconditions,
    },
    object: { ...given, kind: 'DeleteOptions', apiVersion: META_VERSION },
  };
};
