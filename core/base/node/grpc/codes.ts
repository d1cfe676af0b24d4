/** gRPC's codes, spelled as grpc-go prints them: metrics carry these names. */
export const CODE = {
  OK: 0,
  Canceled: 1,
  Unknown: 2,
  InvalidArgument: 3,
  DeadlineExceeded: 4,
  NotFound: 5,
  AlreadyExists: 6,
  PermissionDenied: 7,
  ResourceExhausted: 8,
  FailedPrecondition: 9,
  Aborted: 10,
  OutOfRange: 11,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
  DataLoss: 15,
  Unauthenticated: 16,
} as const;
export type CodeName = keyof typeof CODE;

export interface Status {
  readonly code: CodeName;
  readonly text: string;
}

const NAMES = new Map<number, string>(Object.entries(CODE).map(([name, code]) => [code, name]));

/** `Unavailable`, or `Code(99)` for one that gRPC does not have. */
export const codeName = (code: number): string => NAMES.get(code) ?? `Code(${code})`;
