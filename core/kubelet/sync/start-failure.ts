import { ReasonError } from '../../base/errors.ts';
import type { ImageInfo, RunningContainer } from '../runtimes/runtime.ts';

export type StartFailureReason =
  | 'ErrImagePull'
  | 'ErrImageNeverPull'
  | 'InvalidImageName'
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError';

export interface Started {
  readonly container: RunningContainer;
  readonly image: ImageInfo;
}

/** A container could not be started; the reason is what its `state.waiting` shows. */
export class StartFailure extends ReasonError<StartFailureReason> {
  override readonly name = 'StartFailure';
  /** It was created, and has exited because its process could not be started. */
  readonly started: Started | undefined;

  constructor(
    reason: StartFailureReason,
    message: string,
    options: ErrorOptions & { readonly started?: Started } = {},
  ) {
    super(reason, message, options);
    this.started = options.started;
  }
}
