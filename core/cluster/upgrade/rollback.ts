import { ReasonError } from '../../base/errors.ts';
import type { StepReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import type { UpgradeOutcome } from './apply.ts';

/** Back to the release of before the last upgrade, ended or not. */
export const rollbackUpgrade = (_supervisor: Supervisor, _report: StepReport): Promise<UpgradeOutcome> =>
  Promise.reject(new ReasonError('Unimplemented', 'an upgrade cannot be rolled back yet'));
