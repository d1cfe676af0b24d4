import { ReasonError } from '../../base/errors.ts';

/**
 * Why a patch failed. `PatchMalformed` is answered with 400, `PatchTooLarge` with 413, and
 * `PatchDoesNotApply` with 422: the patch is well formed, but not for this object.
 */
export type PatchReason = 'PatchMalformed' | 'PatchTooLarge' | 'PatchDoesNotApply';

export class PatchError extends ReasonError<PatchReason> {
  override readonly name = 'PatchError';
}

/** Of a `test` operation: the object is not what the patch expects. */
export class PatchTestError extends PatchError {
  constructor(path: string) {
    super('PatchDoesNotApply', `testing value ${path} failed: test failed`);
  }
}

export const malformed = (message: string): PatchError => new PatchError('PatchMalformed', message);
export const tooLarge = (message: string): PatchError => new PatchError('PatchTooLarge', message);
export const doesNotApply = (message: string): PatchError => new PatchError('PatchDoesNotApply', message);
