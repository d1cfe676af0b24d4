import type { FieldError } from '../../field/field-error.ts';
import { invalid, required, tooLong } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { isDns1123Subdomain } from '../../field/formats.ts';
import { byteLength } from '../../field/go-text.ts';

const DRIVER_NAME_BYTES_MAX = 63;

/** The name of a driver of storage or devices. */
export function driverName(path: FieldPath, name: string): FieldError[] {
  if (name === '') return [required(path)];
  return [
    ...(byteLength(name) > DRIVER_NAME_BYTES_MAX ? [tooLong(path, DRIVER_NAME_BYTES_MAX)] : []),
    ...isDns1123Subdomain(name.toLowerCase()).map((message) => invalid(path, name, message)),
  ];
}
