/** Thrown when an invariant of our own is broken: a defect, never an expected failure. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/**
 * States an invariant. A broken one stops the component that holds it (and only that one): continuing
 * with state that cannot be right is worse than a restart from what is on disk.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Closes an exhaustive switch; a new member of the union then fails to compile here. */
export function unreachable(value: never, what: string): never {
  throw new InvariantError(`${what}: unexpected ${JSON.stringify(value)}`);
}
