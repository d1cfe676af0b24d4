import { ReasonError } from '../../base/errors.ts';

/** One line that names the flag and says what to do. */
export const bad = (message: string): never => {
  throw new ReasonError('BadConfiguration', message);
};
