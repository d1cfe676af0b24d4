import { ReasonError } from '../../base/errors.ts';
import type { FieldPath } from './field-path.ts';
import { printPath } from './field-path.ts';
import { goJson, goQuote } from './go-text.ts';

/** The closed set of what can be wrong with a field; the names travel as the `reason` of a Status cause. */
export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTooFew'
  | 'FieldValueTooShort'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

export interface FieldError {
  readonly type: FieldErrorType;
  readonly field: string;
  readonly badValue: unknown;
  readonly detail: string;
  /** Of a value that was wrong before and is not changed: reported as a warning. */
  readonly isTolerated?: true;
}

export type FieldErrorList = readonly FieldError[];

/** One entry of `status.details.causes`. */
export interface FieldCause {
  readonly reason: FieldErrorType;
  readonly message: string;
  readonly field: string;
}

/** Stands for a value that is too large to be shown. */
export const OMITTED = Symbol('omitted');

const TITLES: Readonly<Record<FieldErrorType, string>> = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueTooFew: 'Too few',
  FieldValueTooShort: 'Too short',
  FieldValueTypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
};

const SHOWS_VALUE: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  'FieldValueInvalid',
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
  'FieldValueNotFound',
  'FieldValueDuplicate',
  'FieldValueTooMany',
  'FieldValueTooFew',
]);

const make = (type: FieldErrorType, path: FieldPath, badValue: unknown, detail: string): FieldError => ({
  type,
  field: printPath(path),
  badValue,
  detail,
});

export const required = (path: FieldPath, detail = ''): FieldError =>
  make('FieldValueRequired', path, '', detail);

export const invalid = (path: FieldPath, value: unknown, detail: string): FieldError =>
  make('FieldValueInvalid', path, value, detail);

export const typeInvalid = (path: FieldPath, value: unknown, detail: string): FieldError =>
  make('FieldValueTypeInvalid', path, value, detail);

export const forbidden = (path: FieldPath, detail: string): FieldError =>
  make('FieldValueForbidden', path, '', detail);

export const duplicate = (path: FieldPath, value: unknown): FieldError =>
  make('FieldValueDuplicate', path, value, '');

export const notFound = (path: FieldPath, value: unknown): FieldError =>
  make('FieldValueNotFound', path, value, '');

export const notSupported = (path: FieldPath, value: unknown, supported: readonly string[]): FieldError =>
  make(
    'FieldValueNotSupported',
    path,
    value,
    supported.length === 0 ? '' : `supported values: ${supported.map(goQuote).join(', ')}`,
  );

/** Upstream counts bytes here and never repeats a value that is too long to read. */
export const tooLong = (path: FieldPath, bytesMax: number): FieldError =>
  make(
    'FieldValueTooLong',
    path,
    '<value omitted>',
    bytesMax >= 0
      ? `may not be more than ${bytesMax} ${bytesMax === 1 ? 'byte' : 'bytes'}`
      : 'value is too long',
  );

export const tooMany = (path: FieldPath, actual: number, itemsMax: number): FieldError =>
  make(
    'FieldValueTooMany',
    path,
    actual >= 0 ? actual : OMITTED,
    itemsMax >= 0
      ? `must have at most ${itemsMax} ${itemsMax === 1 ? 'item' : 'items'}`
      : 'has too many items',
  );

export const internalError = (path: FieldPath, detail: string): FieldError =>
  make('InternalError', path, detail, detail);

const printValue = (value: unknown): string => {
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  return goJson(value);
};

/** The text without the path: what a Status cause carries beside its `field`. */
export function errorBody(error: FieldError): string {
  let text = TITLES[error.type];
  if (SHOWS_VALUE.has(error.type) && error.badValue !== OMITTED) text += `: ${printValue(error.badValue)}`;
  return error.detail === '' ? text : `${text}: ${error.detail}`;
}

export const errorText = (error: FieldError): string => `${error.field}: ${errorBody(error)}`;

/** One line for many: duplicates dropped, brackets only around more than one. */
export function aggregateText(errors: FieldErrorList): string {
  const texts = [...new Set(errors.map(errorText))];
  const only = texts[0];
  return texts.length === 1 && only !== undefined ? only : `[${texts.join(', ')}]`;
}

export const causesOf = (errors: FieldErrorList): FieldCause[] =>
  errors.map((error) => ({ reason: error.type, message: errorBody(error), field: error.field }));

/** Thrown by parsers that find a field wrong; carries the list so that it can become a Status. */
export class FieldErrors extends ReasonError<'FieldInvalid'> {
  override readonly name = 'FieldErrors';
  readonly errors: FieldErrorList;

  constructor(errors: FieldErrorList, message: string = aggregateText(errors)) {
    super('FieldInvalid', message);
    this.errors = errors;
  }
}
