import { describeFault } from '../../../core/cluster/faults/fault-board.ts';
import { inStep } from '../../../core/cluster/operation/step-report.ts';
import { requireSupervisor } from '../hosted-cluster.ts';
import type { Kind, RunnersOf } from './runner.ts';

const UNTIL = 'until it is healed or a host of it is started again';

export const faultRunners: RunnersOf<Extract<Kind, `fault.${string}`>> = {
  async 'fault.add'({ fault }, { cluster, report }) {
    const { faults } = requireSupervisor(cluster);
    report.plan([{ id: 'break', title: `Break it: ${describeFault(fault)}` }]);
    const { id, text } = await inStep(report, 'break', () => Promise.resolve(faults.add(fault)));
    return `Fault ${id}: ${text}, ${UNTIL}.`;
  },
  async 'fault.isolate'({ host }, { cluster, report }) {
    const { faults } = requireSupervisor(cluster);
    report.plan([{ id: 'cut', title: `Cut every link of ${host}` }]);
    const cuts = await inStep(report, 'cut', () => Promise.resolve(faults.isolate(host)));
    return `${host} reaches nobody and nobody reaches it: ${cuts.length} links are cut, ${UNTIL}.`;
  },
  async 'fault.heal'({ id }, { cluster, report }) {
    const { faults } = requireSupervisor(cluster);
    report.plan([{ id: 'heal', title: id === 'all' ? 'Heal everything' : `Heal ${id}` }]);
    const healed = await inStep(report, 'heal', () => Promise.resolve(faults.heal(id)));
    if (healed.length === 0) return 'Nothing was broken on purpose.';
    return `Healed: ${healed.map(({ text }) => text).join('; ')}.`;
  },
};
