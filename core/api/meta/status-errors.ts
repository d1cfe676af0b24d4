import type { GroupKind, GroupResource } from './group-version.ts';
import { groupKindText, groupResourceText } from './group-version.ts';
import { StatusError, type StatusCause, type StatusDetails } from './status.ts';

/** The failures of the API with upstream's sentences. `details.kind` holds the resource, as it does there. */
const of = (resource: GroupResource, name: string): StatusDetails => ({
  name,
  group: resource.group,
  kind: resource.resource,
});

export const notFound = (resource: GroupResource, name: string): StatusError =>
  new StatusError('NotFound', `${groupResourceText(resource)} ${JSON.stringify(name)} not found`, {
    code: 404,
    details: of(resource, name),
  });

/** A path that no API serves. */
export const pathNotFound = (): StatusError =>
  new StatusError('NotFound', 'the server could not find the requested resource', { code: 404, details: {} });

export const alreadyExists = (resource: GroupResource, name: string): StatusError =>
  new StatusError('AlreadyExists', `${groupResourceText(resource)} ${JSON.stringify(name)} already exists`, {
    code: 409,
    details: of(resource, name),
  });

export const generateNameConflict = (
  resource: GroupResource,
  name: string,
  retryAfterSeconds: number,
): StatusError =>
  new StatusError(
    'AlreadyExists',
    `${groupResourceText(resource)} ${JSON.stringify(name)} already exists, the server was not able to generate a unique name for the object`,
    { code: 409, details: { ...of(resource, name), retryAfterSeconds } },
  );

export const OPTIMISTIC_LOCK_TEXT =
  'the object has been modified; please apply your changes to the latest version and try again';

export const conflict = (
  resource: GroupResource,
  name: string,
  why: string = OPTIMISTIC_LOCK_TEXT,
): StatusError =>
  new StatusError(
    'Conflict',
    `Operation cannot be fulfilled on ${groupResourceText(resource)} ${JSON.stringify(name)}: ${why}`,
    { code: 409, details: of(resource, name) },
  );

/** Another manager owns fields of an apply. */
export const applyConflict = (message: string, causes: readonly StatusCause[]): StatusError =>
  new StatusError('Conflict', message, { code: 409, details: { causes: [...causes] } });

/** One message for each that is said; one alone stands bare, more stand in brackets. */
const aggregate = (messages: readonly string[]): string => {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
};

/** `causes` have the field and the body of the message (`Required value: ...`), as a field error gives them. */
export const invalid = (kind: GroupKind, name: string, causes: readonly StatusCause[]): StatusError => {
  const head = `${groupKindText(kind)} ${JSON.stringify(name)} is invalid`;
  const messages = causes.map(({ field, message }) => `${field ?? ''}: ${message ?? ''}`);
  return new StatusError('Invalid', messages.length === 0 ? head : `${head}: ${aggregate(messages)}`, {
    code: 422,
    details: { name, group: kind.group, kind: kind.kind, causes: [...causes] },
  });
};

export const badRequest = (message: string): StatusError =>
  new StatusError('BadRequest', message, { code: 400 });

export const unauthorized = (message = 'Unauthorized'): StatusError =>
  new StatusError('Unauthorized', message, { code: 401 });

export const forbidden = (resource: GroupResource, name: string, why: string): StatusError => {
  const what = groupResourceText(resource);
  const head =
    what === ''
      ? 'forbidden'
      : name === ''
        ? `${what} is forbidden`
        : `${what} ${JSON.stringify(name)} is forbidden`;
  return new StatusError('Forbidden', `${head}: ${why}`, { code: 403, details: of(resource, name) });
};

export const methodNotSupported = (resource: GroupResource, action: string): StatusError =>
  new StatusError(
    'MethodNotAllowed',
    `${action} is not supported on resources of kind ${JSON.stringify(groupResourceText(resource))}`,
    { code: 405, details: of(resource, '') },
  );

/** A method that the path knows nothing of. */
export const methodNotAllowed = (): StatusError =>
  new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource', {
    code: 405,
    details: {},
  });

/** As the router of built-in kinds says it, before a handler is asked. */
export const noSuchRepresentation = (available: readonly string[]): StatusError =>
  new StatusError(
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`,
    { code: 406, details: {} },
  );
export const noSuchMediaType = (): StatusError =>
  new StatusError('UnsupportedMediaType', '415: Unsupported Media Type', { code: 415, details: {} });

export const notAcceptable = (accepted: readonly string[]): StatusError =>
  new StatusError('NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`, {
    code: 406,
  });

export const unsupportedMediaType = (accepted: readonly string[]): StatusError =>
  new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    { code: 415 },
  );

export const requestEntityTooLarge = (why: string): StatusError =>
  new StatusError('RequestEntityTooLarge', `Request entity too large: ${why}`, { code: 413 });

export const gone = (message: string): StatusError => new StatusError('Gone', message, { code: 410 });

/** What was asked for lies before what is still kept; the client must list again. */
export const resourceExpired = (message: string): StatusError =>
  new StatusError('Expired', message, { code: 410 });

export const tooOldResourceVersion = (asked: string, oldest: string): StatusError =>
  resourceExpired(`too old resource version: ${asked} (${oldest})`);

export const serverTimeout = (
  resource: GroupResource,
  operation: string,
  retryAfterSeconds: number,
): StatusError =>
  new StatusError(
    'ServerTimeout',
    `The ${operation} operation against ${groupResourceText(resource)} could not be completed at this time, please try again.`,
    { code: 500, details: { ...of(resource, operation), retryAfterSeconds } },
  );

export const timeout = (message: string, retryAfterSeconds: number): StatusError =>
  new StatusError('Timeout', `Timeout: ${message}`, { code: 504, details: { retryAfterSeconds } });

export const tooManyRequests = (
  retryAfterSeconds: number,
  message = 'too many requests, please try again later',
): StatusError => new StatusError('TooManyRequests', message, { code: 429, details: { retryAfterSeconds } });

export const serviceUnavailable = (message: string): StatusError =>
  new StatusError('ServiceUnavailable', message, { code: 503 });

export const internalError = (why: string, cause?: unknown): StatusError =>
  new StatusError('InternalError', `Internal error occurred: ${why}`, {
    code: 500,
    details: { causes: [{ message: why }] },
    cause,
  });
