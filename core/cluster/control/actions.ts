import * as v from 'valibot';
import { ReasonError } from '../../base/errors.ts';
import { schemaFault } from '../../base/parse-fault.ts';
import { hardeningWishes, type HardeningWishes } from '../../contract/actions/hardening-wishes.ts';
import { drillRequest, type DrillRequest, type DrillView } from '../../contract/schemas/drill.ts';
import { clusterAction, type ClusterAction } from '../../contract/actions/actions.ts';
import { compareSnapshot } from '../restore/compare-snapshot.ts';
import { restoreCluster } from '../restore/restore-cluster.ts';
import { enableEncryption } from '../encryption/enable.ts';
import { rotateEncryption } from '../encryption/rotate.ts';
import { faultRequest, type FaultRequest } from '../../contract/actions/fault.ts';
import { gatherActionFacts } from '../supervisor/gather-facts.ts';
import { previewAction } from '../faults/preview.ts';
import { applyHardening } from '../harden/apply.ts';
import { rollbackHardening } from '../harden/rollback.ts';
import { addMember } from '../membership/add-member.ts';
import { removeMember } from '../membership/remove-member.ts';
import { Hold } from '../operation/hold.ts';
import { lineReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { recorded } from './recorded.ts';
import { applyUpgrade } from '../upgrade/apply.ts';
import { planUpgrade } from '../upgrade/plan-upgrade.ts';
import { rollbackUpgrade } from '../upgrade/rollback.ts';
import type { ScheduledBackups } from './protocol.ts';
import type { ControlHandlers } from './server.ts';

const readAction = (text: string): ClusterAction => {
  const parsed = v.safeParse(clusterAction, JSON.parse(text));
  if (parsed.success) return parsed.output;
  throw new ReasonError('BadRequest', `invalid action: ${parsed.issues[0].message}`);
};

const readFault = (text: string): FaultRequest => {
  const parsed = v.safeParse(faultRequest, JSON.parse(text));
  if (parsed.success) return parsed.output;
  throw new ReasonError('BadRequest', `invalid fault: ${parsed.issues[0].message}`);
};

const hostHandlers = (supervisor: Supervisor) => {
  const done = (work: unknown): Promise<null> => Promise.resolve(work).then(() => null);
  return {
    'host.kill': ({ host }) => done(supervisor.commands.kill(host)),
    'host.stop': ({ host }) => done(supervisor.commands.stop(host)),
    'host.start': ({ host }) => done(supervisor.commands.start(host)),
    'host.restart': ({ host }) => done(supervisor.commands.restart(host)),
    'host.pause': ({ host }) => done(supervisor.commands.pause(host)),
    'host.resume': ({ host }) => done(supervisor.commands.resume(host)),
    'component.kill': ({ host, component }) => done(supervisor.commands.killComponent(host, component)),
    'component.stop': ({ host, component }) => done(supervisor.commands.stopComponent(host, component)),
    'component.start': ({ host, component }) => done(supervisor.commands.startComponent(host, component)),
  } satisfies Partial<ControlHandlers>;
};

const upgradeHandlers = (supervisor: Supervisor) => {
  const hold = new Hold(supervisor.signal);
  return {
    'upgrade.plan': ({ version }) => planUpgrade(supervisor, version === '' ? undefined : version),
    'upgrade.apply': ({ version }, progress) =>
      hold.during(() => applyUpgrade(supervisor, version, lineReport(progress, hold.checkpoint))),
    'upgrade.rollback': (_params, progress) =>
      hold.during(() => rollbackUpgrade(supervisor, lineReport(progress, hold.checkpoint))),
    'upgrade.pause': () => {
      if (hold.isRunning) hold.pause();
      return Promise.resolve(hold.isRunning);
    },
    'upgrade.resume': () => {
      hold.resume();
      return Promise.resolve(hold.isRunning);
    },
  } satisfies Partial<ControlHandlers>;
};

const readWishes = (text: string): HardeningWishes => {
  const parsed = v.safeParse(hardeningWishes, JSON.parse(text));
  if (parsed.success) return parsed.output;
  throw new ReasonError('BadRequest', `invalid options of harden: ${schemaFault(parsed.issues)}`);
};

const hardenHandlers = (supervisor: Supervisor) =>
  ({
    'harden.apply': async ({ wishes }, progress) =>
      applyHardening(supervisor, readWishes(wishes), lineReport(progress)),
    'harden.rollback': (_params, progress) => rollbackHardening(supervisor, lineReport(progress)),
  }) satisfies Partial<ControlHandlers>;

const backupHandlers = (supervisor: Supervisor) => {
  const scheduled = (): ScheduledBackups => ({
    schedule: supervisor.backups.schedule,
    nextAtMs: supervisor.backups.nextAtMs ?? null,
  });
  return {
    'snapshot.restore': ({ file, bumpRevision }, progress) =>
      restoreCluster(supervisor, { file, bumpRevision, report: lineReport(progress) }),
    'snapshot.compare': ({ file }) => compareSnapshot(supervisor, file),
    'backup.get': () => Promise.resolve(scheduled()),
    'backup.set': async (schedule) => {
      await supervisor.backups.setSchedule(schedule);
      return scheduled();
    },
  } satisfies Partial<ControlHandlers>;
};

const faultHandlers = ({ faults }: Supervisor) =>
  ({
    'fault.add': async ({ request }) => Promise.resolve(faults.add(readFault(request))),
    'fault.isolate': ({ host }) => Promise.resolve(faults.isolate(host)),
    'fault.list': () => Promise.resolve(faults.list()),
    'fault.heal': ({ id }) => Promise.resolve(faults.heal(id)),
  }) satisfies Partial<ControlHandlers>;

const readDrillRequest = (text: string): DrillRequest => {
  const parsed = v.safeParse(drillRequest, JSON.parse(text));
  if (parsed.success) return parsed.output;
  throw new ReasonError('BadRequest', `invalid request of a drill: ${schemaFault(parsed.issues)}`);
};

/** The drill of the cluster; `drills/` is above this folder and loaded with the first request. */
export interface DrillDesk {
  view(): Promise<DrillView>;
  request(request: DrillRequest, progress: (line: string) => void): Promise<DrillView>;
}

const drillHandlers = (open: () => Promise<DrillDesk>) =>
  ({
    'drill.view': async () => (await open()).view(),
    'drill.request': async ({ request }, progress) =>
      (await open()).request(readDrillRequest(request), progress),
  }) satisfies Partial<ControlHandlers>;

/** What commands from outside do to a running cluster; its timeline tells. */
export const controlHandlers = (
  supervisor: Supervisor,
  openDrills: () => Promise<DrillDesk>,
): ControlHandlers => recorded(plainHandlers(supervisor, openDrills), supervisor.timeline);

const plainHandlers = (supervisor: Supervisor, openDrills: () => Promise<DrillDesk>): ControlHandlers => ({
  async status() {
    await supervisor.commands.refreshUsage();
    return supervisor.state();
  },
  ...hostHandlers(supervisor),
  ...upgradeHandlers(supervisor),
  ...backupHandlers(supervisor),
  ...faultHandlers(supervisor),
  ...hardenHandlers(supervisor),
  ...drillHandlers(openDrills),
  'encryption.rotate': (_params, progress) => rotateEncryption(supervisor, lineReport(progress)),
  'encryption.enable': (_params, progress) => enableEncryption(supervisor, lineReport(progress)),
  'member.add': (_params, progress) => addMember(supervisor, lineReport(progress)),
  'member.remove': ({ member }, progress) => removeMember(supervisor, member, lineReport(progress)),
  'action.preview': async ({ action }) =>
    previewAction(await gatherActionFacts(supervisor), readAction(action)),
});
