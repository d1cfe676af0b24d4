import { sayFault } from '../../../core/cluster/supervisor/fault-board.ts';
import { inStep } from '../../../core/cluster/operation/step-report.ts';
import { say } from '../../../core/contract/index.ts';
import { requireSupervisor } from '../hosted-cluster.ts';
import { askHost } from './ask-host.ts';
import { faultAdded, faultsHealed, hostIsolated } from './end-sentences.ts';
import type { Elsewhere, Kind, RunnersOf } from './runner.ts';

type FaultKind = Extract<Kind, `fault.${string}`>;

export const faultRunners: RunnersOf<FaultKind> = {
  async 'fault.add'({ fault }, { cluster, report }) {
    const { faults } = requireSupervisor(cluster);
    report.plan([{ id: 'break', title: say('step.fault.add', { fault: sayFault(fault) }) }]);
    return faultAdded(await inStep(report, 'break', () => Promise.resolve(faults.add(fault))));
  },
  async 'fault.isolate'({ host }, { cluster, report }) {
    const { faults } = requireSupervisor(cluster);
    report.plan([{ id: 'cut', title: say('step.fault.isolate', { host }) }]);
    return hostIsolated(host, await inStep(report, 'cut', () => Promise.resolve(faults.isolate(host))));
  },
  async 'fault.heal'({ id }, { cluster, report }) {
    const { faults } = requireSupervisor(cluster);
    report.plan([
      { id: 'heal', title: id === 'all' ? say('step.fault.healAll') : say('step.fault.heal', { id }) },
    ]);
    return faultsHealed(await inStep(report, 'heal', () => Promise.resolve(faults.heal(id))));
  },
};

export const faultsElsewhere: Elsewhere<FaultKind> = {
  async 'fault.add'({ fault }, context) {
    return faultAdded(await askHost(context, 'fault.add', { request: JSON.stringify(fault) }));
  },
  async 'fault.isolate'({ host }, context) {
    return hostIsolated(host, await askHost(context, 'fault.isolate', { host }));
  },
  async 'fault.heal'({ id }, context) {
    return faultsHealed(await askHost(context, 'fault.heal', { id }));
  },
};
