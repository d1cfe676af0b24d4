import { say } from '../../contract/index.ts';
import type { Step } from '../operation/step-report.ts';
import type { HostPlan } from '../config/hosts.ts';

/** Workers that are drained together: a tenth of them, so that five thousand come to an end. */
const WORKER_BATCHES = 10;

export interface NodeBatch {
  readonly host: string;
  readonly nodes: readonly string[];
}

/** Every stop of an upgrade by name, in the order of an upgrade; a way back takes them from the end. */
export interface Itinerary {
  readonly apiServers: readonly string[];
  readonly managers: readonly string[];
  readonly nodes: readonly NodeBatch[];
  readonly proxies: readonly string[];
}

const batchesOf = ({ name, nodes }: HostPlan): readonly NodeBatch[] => {
  const size = Math.max(1, Math.ceil(nodes.length / WORKER_BATCHES));
  const names = nodes.map((node) => node.name);
  return Array.from({ length: Math.ceil(names.length / size) }, (_, index) => ({
    host: name,
    nodes: names.slice(index * size, (index + 1) * size),
  }));
};

export const itineraryOf = (hosts: readonly HostPlan[]): Itinerary => {
  const controlPlanes = hosts.filter(({ role }) => role === 'control-plane').map(({ name }) => name);
  return {
    apiServers: controlPlanes,
    managers: controlPlanes,
    nodes: hosts.flatMap((host) => batchesOf(host)),
    proxies: hosts.filter(({ nodes }) => nodes.length > 0).map(({ name }) => name),
  };
};

const apiServerStep = (host: string): Step => ({
  id: `apiserver/${host}`,
  title: say('step.upgrade.apiserver', { host }),
});
const managersStep = (host: string): Step => ({
  id: `managers/${host}`,
  title: say('step.upgrade.managers', { host }),
});
export const nodeStepId = ({ nodes }: NodeBatch): string => `node/${nodes[0]}`;
const nodeStep = (batch: NodeBatch): Step => ({
  id: nodeStepId(batch),
  title:
    batch.nodes.length === 1
      ? say('step.upgrade.kubelet', { node: batch.nodes[0]! })
      : say('step.upgrade.kubelets', { first: batch.nodes[0]!, last: batch.nodes.at(-1)! }),
});

const moves = ({ apiServers, managers, nodes }: Itinerary): readonly Step[] => [
  ...apiServers.map(apiServerStep),
  ...managers.map(managersStep),
  ...nodes.map(nodeStep),
];

export const upgradeSteps = (itinerary: Itinerary): readonly Step[] => [
  { id: 'check', title: say('step.upgrade.check') },
  { id: 'snapshot', title: say('step.upgrade.snapshot') },
  ...moves(itinerary),
  { id: 'finish', title: say('step.upgrade.finish') },
];

export const rollbackSteps = (itinerary: Itinerary): readonly Step[] => [
  { id: 'check', title: say('step.rollback.check') },
  ...[...moves(itinerary)].reverse(),
  { id: 'finish', title: say('step.upgrade.finish') },
];
