import { expect, test } from 'vitest';
import * as errors from './status-errors.ts';
import { isConflict, isExpired, isNotFound, statusErrorFrom, successStatus } from './status.ts';

const PODS = { group: '', resource: 'pods' };
const DEPLOYMENTS = { group: 'apps', resource: 'deployments' };

test('an object that is not there is named with its resource, and its group when it has one', () => {
  expect(errors.notFound(PODS, 'x').status).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'pods "x" not found',
    reason: 'NotFound',
    details: { name: 'x', kind: 'pods' },
    code: 404,
  });
  expect(errors.notFound(DEPLOYMENTS, 'x').status).toMatchObject({
    message: 'deployments.apps "x" not found',
    details: { name: 'x', group: 'apps', kind: 'deployments' },
  });
});

test('one field error has no brackets, several have, and duplicates appear once', () => {
  const required = { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers' };
  const bad = {
    reason: 'FieldValueInvalid',
    message: 'Invalid value: 0: must be greater than 0',
    field: 'spec.x',
  };
  const kind = { group: '', kind: 'Pod' };
  expect(errors.invalid(kind, 'x', [required]).message).toBe(
    'Pod "x" is invalid: spec.containers: Required value',
  );
  const several = errors.invalid({ group: 'apps', kind: 'Deployment' }, 'x', [required, bad, required]);
  expect(several.message).toBe(
    'Deployment.apps "x" is invalid: [spec.containers: Required value, spec.x: Invalid value: 0: must be greater than 0]',
  );
  expect(several.details?.causes).toEqual([required, bad, required]);
});

test.each([
  [errors.alreadyExists(PODS, 'a'), 409, 'AlreadyExists', 'pods "a" already exists'],
  [
    errors.conflict(DEPLOYMENTS, 'a'),
    409,
    'Conflict',
    'Operation cannot be fulfilled on deployments.apps "a": the object has been modified; please apply your changes to the latest version and try again',
  ],
  [errors.forbidden(PODS, '', 'no'), 403, 'Forbidden', 'pods is forbidden: no'],
  [errors.forbidden(PODS, 'a', 'no'), 403, 'Forbidden', 'pods "a" is forbidden: no'],
  [errors.forbidden({ group: '', resource: '' }, '', 'no'), 403, 'Forbidden', 'forbidden: no'],
  [
    errors.methodNotSupported(PODS, 'create'),
    405,
    'MethodNotAllowed',
    'create is not supported on resources of kind "pods"',
  ],
  [errors.tooOldResourceVersion('5', '9'), 410, 'Expired', 'too old resource version: 5 (9)'],
  [
    errors.notAcceptable(['application/json', 'application/yaml']),
    406,
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/yaml',
  ],
  [
    errors.unsupportedMediaType(['application/json']),
    415,
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: application/json',
  ],
  [errors.timeout('gone fishing', 1), 504, 'Timeout', 'Timeout: gone fishing'],
  [errors.internalError('boom'), 500, 'InternalError', 'Internal error occurred: boom'],
])('%s has its code, reason and sentence', (error, code, reason, message) => {
  expect([error.code, error.reason, error.message]).toEqual([code, reason, message]);
});

test('a received status answers the same predicates as one created here', () => {
  expect(isNotFound(statusErrorFrom(errors.notFound(PODS, 'x').status))).toBe(true);
  expect(isExpired(statusErrorFrom({ reason: 'Gone', code: 410 }))).toBe(true);
  expect(isConflict(statusErrorFrom({}, 409))).toBe(true);
  expect(isNotFound(new Error('pods "x" not found'))).toBe(false);
});

test('a success has no reason and leaves out empty details', () => {
  expect(successStatus({ name: 'x', group: '', kind: 'pods', uid: 'u' })).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: 'x', kind: 'pods', uid: 'u' },
    code: 200,
  });
});
