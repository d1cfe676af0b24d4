import type { ActionPreview } from '../../contract/schemas/local-cluster.ts';
import type { DrillView, Said } from '../../contract/index.ts';
import type { BackupSchedule, SnapshotComparison, UpgradePlan } from '../../contract/schemas/operations.ts';
import type { HardeningOutcome } from '../harden/apply.ts';
import type { RotationOutcome } from '../encryption/rotate.ts';
import type { Fault } from '../faults/fault.ts';
import type { MembershipOutcome } from '../membership/add-member.ts';
import type { UpgradeOutcome } from '../upgrade/apply.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import type { RestoreOutcome } from '../restore/restore-cluster.ts';

/** Every method: what it takes and what it answers. Both ends derive from this map. */
export interface ControlMethods {
  status: { params: Record<string, never>; result: ClusterState };
  'host.kill': { params: { host: string }; result: null };
  'host.stop': { params: { host: string }; result: null };
  'host.start': { params: { host: string }; result: null };
  'host.restart': { params: { host: string }; result: null };
  'host.pause': { params: { host: string }; result: null };
  'host.resume': { params: { host: string }; result: null };
  'component.kill': { params: { host: string; component: string }; result: null };
  'component.stop': { params: { host: string; component: string }; result: null };
  'component.start': { params: { host: string; component: string }; result: null };
  'snapshot.restore': { params: { file: string; bumpRevision: number }; result: RestoreOutcome };
  'snapshot.compare': { params: { file: string }; result: SnapshotComparison };
  'backup.get': { params: Record<string, never>; result: ScheduledBackups };
  'backup.set': { params: BackupSchedule; result: ScheduledBackups };
  /** `version` empty: where one was begun, or the next there is. */
  'upgrade.plan': { params: { version: string }; result: UpgradePlan };
  'upgrade.apply': { params: { version: string }; result: UpgradeOutcome };
  'upgrade.rollback': { params: Record<string, never>; result: UpgradeOutcome };
  /** Before the next step; true when an upgrade is in progress. */
  'upgrade.pause': { params: Record<string, never>; result: boolean };
  'upgrade.resume': { params: Record<string, never>; result: boolean };
  /** `wishes` are HardeningWishes of the contract, as JSON. */
  'harden.apply': { params: { wishes: string }; result: HardeningOutcome };
  'harden.rollback': { params: Record<string, never>; result: HardeningOutcome };
  'encryption.rotate': { params: Record<string, never>; result: RotationOutcome };
  'encryption.enable': { params: Record<string, never>; result: RotationOutcome };
  'member.add': { params: Record<string, never>; result: MembershipOutcome };
  'member.remove': { params: { member: string }; result: MembershipOutcome };
  /** `request` is a FaultRequest, as JSON. */
  'fault.add': { params: { request: string }; result: Fault };
  'fault.isolate': { params: { host: string }; result: readonly Fault[] };
  'fault.list': { params: Record<string, never>; result: readonly Fault[] };
  'fault.heal': { params: { id: string }; result: readonly Fault[] };
  'drill.view': { params: Record<string, never>; result: DrillView };
  /** `request` is a DrillRequest of the contract, as JSON. */
  'drill.request': { params: { request: string }; result: DrillView };
  /** `action` is a ClusterAction of the contract, as JSON. */
  'action.preview': { params: { action: string }; result: ActionPreview };
}

export interface ScheduledBackups {
  readonly schedule: BackupSchedule;
  readonly nextAtMs: number | null;
}

export type ControlMethod = keyof ControlMethods;
export type ParamsOf<M extends ControlMethod> = ControlMethods[M]['params'];
export type ResultOf<M extends ControlMethod> = ControlMethods[M]['result'];

export interface ControlRequest {
  readonly id: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export type ControlAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly progress: string }
  | {
      readonly id: number;
      readonly error: { readonly reason: string; readonly message: string; readonly said: Said };
    };

/** A line longer than this is no request of ours. */
export const LINE_BYTES_MAX = 1024 * 1024;
