import { ReasonError } from '../../base/errors.ts';

export type StartFailureReason =
  | 'ErrImagePull'
  | 'ErrImageNeverPull'
  | 'InvalidImageName'
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError';

/** A container could not be started; the reason is what its `state.waiting` shows. */
export class StartFailure extends ReasonError<StartFailureReason> {
  override readonly name = 'StartFailure';
}
