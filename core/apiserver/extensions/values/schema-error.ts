import { jsonText } from '../../../api/meta/json-text.ts';
import { child } from '../../../api/field/field-path.ts';
import {
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  type FieldError,
} from '../../../api/field/field-error.ts';

/** What is wrong with a value, as the validator of OpenAPI schemas that upstream uses finds it. */
export interface SchemaError {
  readonly code:
    | 'type'
    | 'required'
    | 'enum'
    | 'too-long'
    | 'too-many'
    | 'other'
    /** Of the schema as a whole, such as that none of several alternatives fits: upstream gives these no path. */
    | 'composite';
  readonly path: string;
  readonly message: string;
  readonly value?: unknown;
  readonly limit?: number;
  readonly allowed?: readonly unknown[];
}

/** As field errors below `base`. */
export const fieldErrorOf = (base: string, error: SchemaError): FieldError => {
  const { code, value = '' } = error;
  if (code === 'composite') return invalid(base, '', error.message);
  const name = error.path.startsWith('.') ? error.path.slice(1) : error.path;
  const path = name === '' ? base : child(base, name);
  switch (code) {
    case 'required':
      return required(path);
    case 'enum':
      return notSupported(
        path,
        error.value,
        (error.allowed ?? []).map((one) => (typeof one === 'string' ? one : jsonText(one))),
      );
    case 'too-long':
      return tooLong(path, error.limit ?? -1);
    case 'too-many':
      return tooMany(path, error.value as number, error.limit ?? -1);
    case 'type':
      return typeInvalid(path, value, error.message);
    case 'other':
      return invalid(path, value, error.message);
  }
};
