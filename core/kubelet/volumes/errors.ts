import { ReasonError } from '../../base/errors.ts';

/** `FailedMount` holds the whole pod back, `CreateContainerConfigError` one container. */
export class VolumeError extends ReasonError<'FailedMount' | 'CreateContainerConfigError'> {
  override readonly name = 'VolumeError';
}

export const failedMount = (volume: string, why: string): VolumeError =>
  new VolumeError('FailedMount', `MountVolume.SetUp failed for volume "${volume}" : ${why}`);

export const configError = (why: string): VolumeError => new VolumeError('CreateContainerConfigError', why);
