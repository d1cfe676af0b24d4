import { type Said, SaidError, saidOf, say, together } from '../../contract/index.ts';
import { hasReason } from '../../base/errors.ts';
import { NODE } from '../../client/index.ts';
import { writeClusterConfig } from '../data-folder/create.ts';
import { putManifestBack } from '../data-folder/manifest-aside.ts';
import type { HostPlan } from '../config/hosts.ts';
import {
  addMember as addToEtcd,
  etcdAccessOf,
  listMembers,
  promoteMember,
  type MemberView,
} from '../etcd-operator/operations.ts';
import { PORTS } from '../manifests/control-plane.ts';
import { inStep, type StepReport } from '../operation/step-report.ts';
import { markControlPlanes } from '../supervisor/bootstrap.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { assertHealthy, clientOf, UnhealthyError } from '../supervisor/move.ts';
import { readUpgradeState } from '../data-folder/upgrade-state.ts';
import { updateEtcdServers } from './etcd-servers.ts';
import { makeHostFiles } from './host-files.ts';
import {
  beginMembershipChange,
  endMembershipChange,
  readMembershipChange,
  type MembershipChange,
} from '../data-folder/membership-journal.ts';
import { hostOf, withNextMember } from './ordinals.ts';

const JOIN_TIMEOUT_MS = 120_000;
/** Three times etcd's own. */
const CONNECTED_TIMEOUT_MS = 15_000;
const POLL_MS = 100;
const RESUME_COMMAND = 'pilothouse member add';
const RESUME_ADD = say('failure.resume', { command: RESUME_COMMAND });

export interface MembershipOutcome {
  /** The host that came or went. */
  readonly host: string;
  /** Voters of etcd after it. */
  readonly members: number;
}

export const accessOf = ({ folder, config }: Supervisor) => etcdAccessOf(folder.directory, config);

export const peerUrlOf = ({ etcd }: HostPlan): string => `https://${etcd!.address}:${PORTS.etcdPeer}`;

export const memberAt = async (supervisor: Supervisor, host: HostPlan): Promise<MemberView | undefined> =>
  (await listMembers(accessOf(supervisor))).find(({ peerUrls }) => peerUrls.includes(peerUrlOf(host)));

export const voterCount = async (supervisor: Supervisor): Promise<number> =>
  (await listMembers(accessOf(supervisor))).filter(({ isLearner }) => !isLearner).length;

/** What must not be in progress, and what must not be somebody else's. */
export const assertChangeable = async (supervisor: Supervisor): Promise<void> => {
  if (supervisor.config.spec.externalEtcd) throw new SaidError('NotOurs', say('failure.member.external'));
  const upgrade = await readUpgradeState(supervisor.folder.directory);
  if (upgrade && upgrade.phase !== 'done')
    throw new SaidError('Busy', say('failure.upgrade.incomplete', { version: upgrade.to }));
};

/**
 * etcd changes its members only while all have been connected for some seconds (its --strict-reconfig-check): a change
 * that follows another is refused at first.
 */
export const onceConnected = async <T>(supervisor: Supervisor, change: () => Promise<T>): Promise<T> => {
  const deadlineMs = supervisor.clock.monotonicMs() + CONNECTED_TIMEOUT_MS;
  for (;;) {
    try {
      return await change();
    } catch (error) {
      const isEarly = hasReason(error, 'EtcdUnhealthy');
      if (!isEarly || supervisor.clock.monotonicMs() > deadlineMs) throw error;
    }
    await supervisor.wait(POLL_MS);
  }
};

/** No one catches up or becomes ready on a host that has ended: it is told immediately. */
const assertAlive = (supervisor: Supervisor, { name }: HostPlan): void => {
  const { phase, message } = supervisor.host(name).state();
  if (supervisor.host(name).isAlive) return;
  throw new SaidError(
    'NotReady',
    together([
      say('found.hosts.host', { host: name, phase }),
      ...(message === undefined ? [] : [message]),
      RESUME_ADD,
    ]),
  );
};

/** Resolves when the member votes: a learner that has not caught up is refused, and asked again. */
const promoted = async (supervisor: Supervisor, host: HostPlan, report: StepReport): Promise<void> => {
  const deadlineMs = supervisor.clock.monotonicMs() + JOIN_TIMEOUT_MS;
  for (;;) {
    const member = await memberAt(supervisor, host);
    if (member && !member.isLearner && member.status) return;
    let why = say('detail.notReachable');
    if (member?.isLearner)
      try {
        await promoteMember(accessOf(supervisor), member.id);
        continue;
      } catch (error) {
        why = saidOf(error);
      }
    report.detail('promote', why);
    assertAlive(supervisor, host);
    if (supervisor.clock.monotonicMs() > deadlineMs)
      throw new SaidError(
        'NotReady',
        together([say('failure.member.behind', { host: host.name, why }), RESUME_ADD]),
      );
    await supervisor.wait(POLL_MS);
  }
};

const serves = async (supervisor: Supervisor, host: HostPlan): Promise<void> => {
  if (host.role === 'control-plane') {
    // Not there any more where it was put back before a crash.
    await putManifestBack(supervisor.folder.directory, host.name, 'kube-apiserver').catch(
      (error: unknown) => {
        if (!hasReason(error, 'NotFound')) throw error;
      },
    );
    const link = supervisor.host(host.name);
    const isReady = (): boolean => link.component('kube-apiserver')?.phase === 'ready';
    const isInTime = await link.until(() => isReady() || !link.isAlive, JOIN_TIMEOUT_MS);
    assertAlive(supervisor, host);
    if (!isInTime)
      throw new SaidError(
        'NotReady',
        together([say('failure.notReady.apiServer', { host: host.name }), RESUME_ADD]),
      );
  }
  await assertHealthy(supervisor, RESUME_COMMAND);
  const client = clientOf(supervisor);
  const deadlineMs = supervisor.clock.monotonicMs() + JOIN_TIMEOUT_MS;
  for (const { name } of host.nodes) {
    while (!(await client.resource(NODE).find(name))) {
      if (supervisor.clock.monotonicMs() > deadlineMs)
        throw new SaidError('NotReady', together([say('failure.member.noNode', { node: name }), RESUME_ADD]));
      await supervisor.wait(POLL_MS);
    }
  }
  await markControlPlanes(
    client,
    host.nodes.map(({ name }) => name),
  );
};

/** From the moment that the configuration has the host: also what the next start continues with. */
export const completeJoin = async (
  supervisor: Supervisor,
  host: HostPlan,
  report: StepReport,
): Promise<void> => {
  await inStep(report, 'start', () => supervisor.attachHost(host));
  await inStep(report, 'promote', () => promoted(supervisor, host, report));
  await inStep(report, 'serve', () => serves(supervisor, host));
  await inStep(
    report,
    'apiservers',
    () => updateEtcdServers(supervisor, supervisor.config, RESUME_COMMAND),
    (count) => say('detail.restarted', { count }),
  );
  await endMembershipChange(supervisor.folder.directory);
};

/** Steps that a host has behind it once the configuration has it. */
const JOIN_STEPS_BEFORE = 3;

const commandOf = ({ kind, host }: MembershipChange): string =>
  kind === 'add' ? 'pilothouse member add' : `pilothouse member remove ${host}`;

const stateOf = ({ kind, host }: MembershipChange): Said =>
  kind === 'add' ? say('failure.member.notJoined', { host }) : say('failure.member.notRemoved', { host });

const resumeWith = (change: MembershipChange): Said => say('failure.resume', { command: commandOf(change) });

/** Another change waits for the end of this one. */
export const unfinished = (change: MembershipChange): SaidError<'Busy'> =>
  new SaidError('Busy', together([stateOf(change), resumeWith(change)]));

/** The steps of a change that is begun: whatever cuts it off is told with the command that continues. */
export const goingOn = async <T>(change: MembershipChange, run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (cause) {
    const isAdvised = cause instanceof UnhealthyError;
    throw new SaidError(
      'Unfinished',
      say('failure.about', {
        what: stateOf(change),
        why: together([saidOf(cause), ...(isAdvised ? [] : [resumeWith(change)])]),
      }),
      { cause },
    );
  }
};

export const joinSteps = (host: string) => [
  { id: 'check', title: say('step.member.check') },
  { id: 'files', title: say('step.member.files', { host }) },
  { id: 'learner', title: say('step.member.learner', { host }) },
  { id: 'start', title: say('step.member.start', { host }) },
  { id: 'promote', title: say('step.member.promote', { host }) },
  { id: 'serve', title: say('step.member.serve', { host }) },
  { id: 'apiservers', title: say('step.member.apiservers.add') },
];

/**
 * One more control plane with a member of its own, or one more etcd host. Resolves when it votes and serves. The
 * configuration has the host as soon as etcd has its learner, and the learner votes only after that: a crash at any
 * moment leaves either a learner that no one waits for, or a host that the next start brings up.
 */
export const addMember = (supervisor: Supervisor, report: StepReport): Promise<MembershipOutcome> =>
  supervisor.exclusively(say('exclusive.add'), async () => {
    await assertChangeable(supervisor);
    const { directory } = supervisor.folder;
    const begun = await readMembershipChange(directory);
    if (begun?.kind === 'remove') throw unfinished(begun);
    const joining = begun && hostOf(supervisor.config, begun.host);
    if (joining) {
      report.plan(joinSteps(joining.name).slice(JOIN_STEPS_BEFORE));
      await goingOn(begun, () => completeJoin(supervisor, joining, report));
      return { host: joining.name, members: await voterCount(supervisor) };
    }
    const { config, host } = withNextMember(supervisor.config);
    report.plan(joinSteps(host.name));
    await inStep(report, 'check', () => assertHealthy(supervisor, RESUME_COMMAND));
    const change: MembershipChange = { kind: 'add', host: host.name };
    await beginMembershipChange(directory, change);
    await goingOn(change, async () => {
      await inStep(report, 'files', () => makeHostFiles(directory, config, host, supervisor.clock));
      await inStep(report, 'learner', async () => {
        if (!(await memberAt(supervisor, host)))
          await onceConnected(supervisor, () =>
            addToEtcd(accessOf(supervisor), { peerUrls: [peerUrlOf(host)], isLearner: true }),
          );
        await writeClusterConfig(directory, config);
        supervisor.setConfig(config);
      });
      await completeJoin(supervisor, host, report);
    });
    return { host: host.name, members: await voterCount(supervisor) };
  });
