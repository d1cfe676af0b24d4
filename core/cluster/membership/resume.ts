import { removeMember as removeFromEtcd } from '../etcd-operator/operations.ts';
import { say, type Said } from '../../contract/index.ts';
import { silentReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { accessOf, completeJoin, goingOn, memberAt } from './add-member.ts';
import { deleteHostFiles } from './host-files.ts';
import { endMembershipChange, readMembershipChange } from '../data-folder/membership-journal.ts';
import { hostOf, withNextMember } from './ordinals.ts';
import { completeLeave, finishLeave } from './remove-member.ts';

/** Ends what a crash has cut off. Called once the rest of the cluster is ready; does nothing where nothing was. */
export const resumeMembership = async (supervisor: Supervisor): Promise<Said | undefined> => {
  const { directory } = supervisor.folder;
  const change = await readMembershipChange(directory);
  if (!change) return undefined;
  const host = hostOf(supervisor.config, change.host);
  if (change.kind === 'remove') {
    await goingOn(change, () =>
      host
        ? completeLeave(supervisor, host, silentReport)
        : finishLeave(supervisor, change.host, silentReport),
    );
    return say('warning.removalResumed', { host: change.host });
  }
  if (host) {
    await goingOn(change, () => completeJoin(supervisor, host, silentReport));
    return say('warning.joinResumed', { host: change.host });
  }
  // It never got as far as the configuration: what is left is a learner that no one waits for.
  const { host: wouldBe } = withNextMember(supervisor.config);
  const learner = wouldBe.name === change.host ? await memberAt(supervisor, wouldBe) : undefined;
  if (learner?.isLearner) await removeFromEtcd(accessOf(supervisor), learner.id);
  await deleteHostFiles(directory, change.host);
  await endMembershipChange(directory);
  return say('warning.joinUndone', { host: change.host });
};
