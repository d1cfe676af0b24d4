import { ReasonError } from '../../base/errors.ts';
import type { UpgradePlan } from '../../contract/schemas/operations.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';

/** What an upgrade would do and what speaks against it. Without a target: the first there is. */
export const planUpgrade = (_supervisor: Supervisor, _target?: string): Promise<UpgradePlan> =>
  Promise.reject(new ReasonError('Unimplemented', 'upgrades cannot be planned yet'));
