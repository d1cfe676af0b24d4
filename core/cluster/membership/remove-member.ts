import { ReasonError } from '../../base/errors.ts';
import type { StepReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import type { MembershipOutcome } from './add-member.ts';

/** Takes a member and its host out of the running cluster. Refused where the rest would be no quorum. */
export const removeMember = (
  _supervisor: Supervisor,
  _name: string,
  _report: StepReport,
): Promise<MembershipOutcome> =>
  Promise.reject(new ReasonError('Unimplemented', 'members cannot be removed yet'));
