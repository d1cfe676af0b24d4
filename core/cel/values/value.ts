import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  ERROR,
  INT,
  NULL,
  OPTIONAL,
  STRING,
  TIMESTAMP,
  TYPE,
  type Type,
  UINT,
} from '../types/type.ts';

/**
 * A value during evaluation. An int is a safe integer as `number`, or a `bigint` beyond that and only then, so that
 * the common case is plain arithmetic and equal ints are identical. All else that JavaScript cannot tell apart on
 * its own (doubles, uints, times, lists, maps, errors...) is an instance of a class.
 */
export type Value = boolean | number | bigint | string | null | Uint8Array | CelObject;
export type Int = number | bigint;

/** Everything that is not a JavaScript primitive or bytes. */
export abstract class CelObject {
  /** The type at run time, which `type(x)` returns. */
  abstract readonly type: Type;
}

/** A failure as a value: `||`, `&&` and the macros built on them absorb it, all else passes it on. */
export class CelError extends CelObject {
  readonly type = ERROR;
  readonly message: string;

  constructor(message: string) {
    super();
    this.message = message;
  }
}

export class CelDouble extends CelObject {
  readonly type = DOUBLE;
  readonly value: number;

  constructor(value: number) {
    super();
    this.value = value;
  }
}

export class CelUint extends CelObject {
  readonly type = UINT;
  readonly value: bigint;

  constructor(value: bigint) {
    super();
    this.value = value;
  }
}

export class CelDuration extends CelObject {
  readonly type = DURATION;
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }
}

export class CelTimestamp extends CelObject {
  readonly type = TIMESTAMP;
  /** Seconds since the epoch, and nanoseconds of that second from 0 to 999,999,999. */
  readonly seconds: number;
  readonly nanos: number;
  /** Seconds east of UTC that the time was written with: they show when it is turned into a string. */
  readonly offsetSeconds: number;

  constructor(seconds: number, nanos: number, offsetSeconds = 0) {
    super();
    this.seconds = seconds;
    this.nanos = nanos;
    this.offsetSeconds = offsetSeconds;
  }
}

export class CelType extends CelObject {
  readonly type = TYPE;
  readonly denoted: Type;

  constructor(denoted: Type) {
    super();
    this.denoted = denoted;
  }
}

export class CelOptional extends CelObject {
  readonly type = OPTIONAL;
  readonly value: Value | undefined;

  private constructor(value: Value | undefined) {
    super();
    this.value = value;
  }
  static readonly none = new CelOptional(undefined);
  static of(value: Value): CelOptional {
    return new CelOptional(value);
  }
}

export const typeOf = (value: Value): Type => {
  if (typeof value === 'string') return STRING;
  if (typeof value === 'number' || typeof value === 'bigint') return INT;
  if (typeof value === 'boolean') return BOOL;
  if (value === null) return NULL;
  return value instanceof Uint8Array ? BYTES : value.type;
};

export const isError = (value: Value): value is CelError => value instanceof CelError;
export const isInt = (value: Value): value is Int => typeof value === 'number' || typeof value === 'bigint';

export const error = (message: string): CelError => new CelError(message);
export const NO_SUCH_OVERLOAD = error('no such overload');
