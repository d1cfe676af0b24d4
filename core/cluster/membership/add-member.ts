import { ReasonError } from '../../base/errors.ts';
import type { StepReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';

export interface MembershipOutcome {
  /** The host that came or went. */
  readonly host: string;
  /** Voters of etcd after it. */
  readonly members: number;
}

/** One more control plane with a member of its own, or one more etcd host. Resolves when it votes and serves. */
export const addMember = (_supervisor: Supervisor, _report: StepReport): Promise<MembershipOutcome> =>
  Promise.reject(new ReasonError('Unimplemented', 'members cannot be added yet'));
