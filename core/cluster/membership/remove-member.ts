import { SaidError, say, verbatim } from '../../contract/index.ts';
import { isNotFound } from '../../api/meta/status.ts';
import { LEASE, NODE } from '../../client/index.ts';
import { LEASE_NAMESPACE } from '../../kubelet/node/node-agent.ts';
import type { ClusterConfig } from '../config/config.ts';
import type { HostPlan } from '../config/hosts.ts';
import { writeClusterConfig } from '../data-folder/create.ts';
import {
  findMember,
  listMembers,
  moveLeader,
  removeMember as removeFromEtcd,
} from '../etcd-operator/operations.ts';
import { gatherActionFacts } from '../supervisor/gather-facts.ts';
import { previewAction } from '../faults/preview.ts';
import { inStep, type StepReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { drainNode } from '../supervisor/drain-node.ts';
import { clientOf } from '../supervisor/move.ts';
import {
  accessOf,
  assertChangeable,
  goingOn,
  memberAt,
  onceConnected,
  unfinished,
  voterCount,
  type MembershipOutcome,
} from './add-member.ts';
import { updateEtcdServers } from './etcd-servers.ts';
import { deleteHostFiles } from './host-files.ts';
import {
  beginMembershipChange,
  endMembershipChange,
  readMembershipChange,
  type MembershipChange,
} from '../data-folder/membership-journal.ts';
import { hostOf, withoutMember } from './ordinals.ts';

const resumeCommand = (host: string): string => `pilothouse member remove ${host}`;

/** Taking a healthy member away while others are down is how a cluster is lost for good. */
const assertQuorumStays = async (supervisor: Supervisor, member: string): Promise<string> => {
  const { quorum, effects } = previewAction(await gatherActionFacts(supervisor), {
    kind: 'member.remove',
    member,
  });
  const { votersAfter = 0, neededAfter = 0, healthyAfter = 0 } = quorum ?? {};
  if (votersAfter < 1) throw new SaidError('QuorumLost', say('failure.member.only', { member }));
  if (healthyAfter < neededAfter)
    throw new SaidError(
      'QuorumLost',
      say('failure.member.quorum', {
        member,
        healthy: healthyAfter,
        voters: votersAfter,
        needed: neededAfter,
      }),
    );
  if (effects.some(({ code }) => code === 'noApiServerLeft'))
    throw new SaidError('NoApiServerLeft', say('failure.member.lastApiServer', { member }));
  return `${healthyAfter} of ${votersAfter} members healthy, ${neededAfter} needed`;
};

/** Everything that a host leads or serves goes elsewhere first, so that no one notices. */
const handOver = async (supervisor: Supervisor, host: HostPlan, report: StepReport): Promise<void> => {
  const members = await listMembers(accessOf(supervisor));
  const heir = members.find(
    ({ name, isLearner, status }) => name !== host.etcd!.name && !isLearner && status !== undefined,
  );
  const leads = members.some(({ name, isLeader }) => isLeader && name === host.etcd!.name);
  if (leads && heir) await moveLeader(accessOf(supervisor), heir.id);
  await supervisor.drainApiServer(host.name);
  for (const { name } of host.nodes)
    await drainNode(clientOf(supervisor), name, {
      clock: supervisor.clock,
      signal: supervisor.signal,
      onWaiting: (left) => report.detail('drain', say('detail.evicting', { count: left, node: name })),
    }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
};

const forgetNodes = async (supervisor: Supervisor, host: HostPlan): Promise<void> => {
  const client = clientOf(supervisor);
  const gone = (error: unknown): void => {
    if (!isNotFound(error)) throw error;
  };
  for (const { name } of host.nodes) {
    await client.resource(NODE).delete(name).catch(gone);
    await client.resource(LEASE, LEASE_NAMESPACE).delete(name).catch(gone);
  }
};

/** A dead member is removed too; then the others are told once it is gone, since nothing restarts while one is down. */
const tellApiServers = async (
  supervisor: Supervisor,
  { name }: HostPlan,
  config: ClusterConfig,
): Promise<number> =>
  supervisor.host(name).component('etcd')?.phase === 'ready'
    ? updateEtcdServers(supervisor, config, resumeCommand(name))
    : 0;

export const leaveSteps = (host: string) => [
  { id: 'check', title: say('step.member.quorum') },
  { id: 'drain', title: say('step.member.drain', { host }) },
  { id: 'apiservers', title: say('step.member.apiservers.remove') },
  { id: 'member', title: say('step.member.remove', { host }) },
  { id: 'stop', title: say('step.member.stop', { host }) },
  { id: 'files', title: say('step.member.delete', { host }) },
];

/** From the moment that the removal was decided: also what the next start continues with. */
export const completeLeave = async (
  supervisor: Supervisor,
  host: HostPlan,
  report: StepReport,
): Promise<void> => {
  const { directory } = supervisor.folder;
  const config = withoutMember(supervisor.config, host.name);
  await inStep(report, 'drain', () => handOver(supervisor, host, report));
  // Before the member goes: who asks one that is being removed cannot know whether it was heard.
  await inStep(
    report,
    'apiservers',
    () => tellApiServers(supervisor, host, config),
    (count) => say('detail.restarted', { count }),
  );
  await inStep(report, 'member', async () => {
    const member = await memberAt(supervisor, host);
    if (member) await onceConnected(supervisor, () => removeFromEtcd(accessOf(supervisor), member.id));
  });
  await inStep(report, 'stop', async () => {
    await writeClusterConfig(directory, config);
    await supervisor.commands.stop(host.name);
    await supervisor.detachHost(host.name);
    supervisor.setConfig(config);
    await forgetNodes(supervisor, host);
  });
  await finishLeave(supervisor, host.name, report);
};

/** The configuration has the host no more. */
export const finishLeave = async (
  supervisor: Supervisor,
  host: string,
  report: StepReport,
): Promise<void> => {
  const { directory } = supervisor.folder;
  await updateEtcdServers(supervisor, supervisor.config, resumeCommand(host));
  await inStep(report, 'files', () => deleteHostFiles(directory, host));
  await endMembershipChange(directory);
};

/** Takes a member and its host out of the running cluster. Refused where the rest would be no quorum. */
export const removeMember = (
  supervisor: Supervisor,
  name: string,
  report: StepReport,
): Promise<MembershipOutcome> =>
  supervisor.exclusively(say('exclusive.remove', { member: name }), async () => {
    await assertChangeable(supervisor);
    const begun = await readMembershipChange(supervisor.folder.directory);
    if (begun && (begun.kind === 'add' || begun.host !== name)) throw unfinished(begun);
    if (begun) {
      const leaving = hostOf(supervisor.config, name);
      report.plan(leaveSteps(name));
      await goingOn(begun, () =>
        leaving ? completeLeave(supervisor, leaving, report) : finishLeave(supervisor, name, report),
      );
      return { host: name, members: await voterCount(supervisor) };
    }
    const member = await findMember(accessOf(supervisor), name);
    const host = supervisor.hosts.find(({ plan }) => plan.etcd?.name === member.name)?.plan;
    if (!host)
      throw new SaidError('NotFound', say('failure.member.foreign', { member: name, id: member.id }));
    report.plan(leaveSteps(host.name));
    await inStep(report, 'check', () => assertQuorumStays(supervisor, member.id), verbatim);
    const change: MembershipChange = { kind: 'remove', host: host.name };
    await beginMembershipChange(supervisor.folder.directory, change);
    await goingOn(change, () => completeLeave(supervisor, host, report));
    return { host: host.name, members: await voterCount(supervisor) };
  });
