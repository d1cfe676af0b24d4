import { sayFault } from '../../../core/cluster/supervisor/fault-board.ts';
import { inStep } from '../../../core/cluster/operation/step-report.ts';
import { say } from '../../../core/contract/index.ts';
import { requireSupervisor } from '../hosted-cluster.ts';
import { faultAdded, faultsHealed, hostIsolated } from './end-sentences.ts';
import type { Kind, RunnersOf } from './runner.ts';

export const faultRunners: RunnersOf<Extract<Kind, `fault.${string}`>> = {
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
