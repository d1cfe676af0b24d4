import { SaidError, say, verbatim } from '../../contract/index.ts';
import { registryOf } from '../../api/scheme/index.ts';
import { minorOf } from '../config/config.ts';
import { inStep, type StepReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { recordRelease, type UpgradeOutcome } from './apply.ts';
import { itineraryOf, rollbackSteps } from './itinerary.ts';
import { Journey } from './journey.ts';
import { assertHealthy, clientOf } from '../supervisor/move.ts';
import { forgetUpgrade, readUpgradeState, writeUpgradeState } from '../data-folder/upgrade-state.ts';

/** Objects that an older release would neither show nor take care of. */
const assertNothingNewer = async (supervisor: Supervisor, from: string, to: string): Promise<void> => {
  const client = clientOf(supervisor);
  const older = registryOf(minorOf(from));
  for (const type of registryOf(minorOf(to)).resources) {
    if (!type.storage || older.findByResource({ ...type, resource: type.plural })) continue;
    const path = `/apis/${type.group}/${type.version}/${type.plural}`;
    const list = await client.json<{ items?: unknown[] | null }>({
      method: 'GET',
      path,
      query: { limit: 1 },
    });
    if ((list.items ?? []).length > 0)
      throw new SaidError(
        'NotSupported',
        say('failure.rollback.unsupported', {
          version: from,
          resource: `${type.plural}.${type.group}/${type.version}`,
        }),
      );
  }
};

/**
 * Rolls back the last upgrade, complete or not, in reverse order. If it is interrupted, the same call resumes it.
 */
export const rollbackUpgrade = (supervisor: Supervisor, report: StepReport): Promise<UpgradeOutcome> =>
  supervisor.exclusively(say('exclusive.rollback'), () => rollback(supervisor, report));

const rollback = async (supervisor: Supervisor, report: StepReport): Promise<UpgradeOutcome> => {
  const { directory } = supervisor.folder;
  const before = await readUpgradeState(directory);
  if (!before) throw new SaidError('NotFound', say('failure.rollback.none'));
  const { from, to } = before;
  const itinerary = itineraryOf(supervisor.hosts.map(({ plan }) => plan));
  const resumeCommand = 'pilothouse upgrade rollback';
  report.plan(rollbackSteps(itinerary));
  await inStep(report, 'check', async () => {
    await assertHealthy(supervisor, resumeCommand);
    if (before.phase !== 'rolling-back') await assertNothingNewer(supervisor, from, to);
  });
  const state = { ...before, phase: 'rolling-back' } as const;
  await writeUpgradeState(directory, state);
  const journey = new Journey({ supervisor, report, version: from, resumeCommand, state });
  for (const host of itinerary.proxies) await journey.proxy(host);
  for (const batch of [...itinerary.nodes].reverse()) await journey.nodes(batch);
  for (const host of [...itinerary.managers].reverse()) await journey.managers(host);
  for (const host of [...itinerary.apiServers].reverse()) await journey.apiServer(host);
  await inStep(
    report,
    'finish',
    async () => {
      await recordRelease(supervisor, from, undefined);
      await forgetUpgrade(directory);
    },
    () => verbatim(from),
  );
  return { from: to, to: from, snapshot: before.snapshot ?? undefined };
};
