import { SaidError, say, verbatim } from '../../contract/index.ts';
import { saveClusterSnapshot } from '../backup/save-snapshot.ts';
import { writeClusterConfig } from '../data-folder/create.ts';
import { inStep, silentReport, type StepReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { itineraryOf, upgradeSteps } from './itinerary.ts';
import { Journey } from './journey.ts';
import { assertHealthy } from '../supervisor/move.ts';
import { assertUpgradable } from './plan.ts';
import { readUpgradeState, writeUpgradeState, type UpgradeState } from '../data-folder/upgrade-state.ts';

export interface UpgradeOutcome {
  readonly from: string;
  readonly to: string;
  /** The pre-upgrade snapshot, unless etcd is external. */
  readonly snapshot: string | undefined;
}

/** The upgrade to start or to resume. */
const stateFor = async (supervisor: Supervisor, target: string): Promise<UpgradeState> => {
  const { clock } = supervisor;
  const before = await readUpgradeState(supervisor.folder.directory);
  if (before?.phase === 'rolling-back')
    throw new SaidError('Busy', say('failure.upgrade.rollingBack', { version: before.to }));
  if (before?.phase === 'applying') {
    if (before.to === target) return before;
    throw new SaidError('Busy', say('failure.upgrade.resume', { version: before.to }));
  }
  const from = supervisor.config.spec.kubernetesVersion;
  assertUpgradable(from, target);
  return {
    from,
    to: target,
    phase: 'applying',
    startedAt: new Date(clock.nowMs()).toISOString(),
    snapshot: null,
    nodeVersions: {},
    cordoned: [],
  };
};

/** Records what every host runs now. The last upgrade stays on record so that it can be taken back. */
export const recordRelease = async (
  supervisor: Supervisor,
  version: string,
  state: UpgradeState | undefined,
): Promise<void> => {
  const { directory } = supervisor.folder;
  const config = { ...supervisor.config, spec: { ...supervisor.config.spec, kubernetesVersion: version } };
  await writeClusterConfig(directory, config);
  supervisor.setConfig(config);
  supervisor.setNodeVersions({});
  if (state) await writeUpgradeState(directory, { ...state, phase: 'done', nodeVersions: {}, cordoned: [] });
};

/**
 * Takes a running cluster to another release: API servers, then managers, then kubelets, one host after the other, since
 * nothing may be newer than the API servers it talks to. If it is interrupted, the same call resumes it.
 */
export const applyUpgrade = (
  supervisor: Supervisor,
  target: string,
  report: StepReport,
): Promise<UpgradeOutcome> =>
  supervisor.exclusively(say('exclusive.upgrade', { version: target }), () =>
    apply(supervisor, target, report),
  );

const apply = async (supervisor: Supervisor, target: string, report: StepReport): Promise<UpgradeOutcome> => {
  const { directory } = supervisor.folder;
  const itinerary = itineraryOf(supervisor.hosts.map(({ plan }) => plan));
  const resumeCommand = `pilothouse upgrade apply ${target}`;
  let state = await stateFor(supervisor, target);
  report.plan(upgradeSteps(itinerary));
  await inStep(report, 'check', () => assertHealthy(supervisor, resumeCommand));
  await inStep(
    report,
    'snapshot',
    async () => {
      if (supervisor.config.spec.externalEtcd) return say('detail.externalEtcd');
      if (state.snapshot === null) {
        const prefix = `before-${target}`;
        const { file } = await saveClusterSnapshot(supervisor, { report: silentReport, prefix });
        state = { ...state, snapshot: file };
      }
      return verbatim(state.snapshot!);
    },
    (detail) => detail,
  );
  await writeUpgradeState(directory, state);
  const journey = new Journey({ supervisor, report, version: target, resumeCommand, state });
  for (const host of itinerary.apiServers) await journey.apiServer(host);
  for (const host of itinerary.managers) await journey.managers(host);
  for (const batch of itinerary.nodes) await journey.nodes(batch);
  for (const host of itinerary.proxies) await journey.proxy(host);
  await inStep(
    report,
    'finish',
    () => recordRelease(supervisor, target, journey.state),
    () => verbatim(target),
  );
  return { from: state.from, to: target, snapshot: state.snapshot ?? undefined };
};
