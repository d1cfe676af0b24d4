import type { SnapshotComparison } from '../../contract/schemas/operations.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';

/** What a restore would change: the objects of the file beside those of now. */
export const compareSnapshot = (_supervisor: Supervisor, _file: string): Promise<SnapshotComparison> =>
  Promise.reject(new ReasonError('Unimplemented', 'snapshots cannot be compared yet'));
