import { naturalOrder } from '../../../../core/base/natural-order.ts';
import type { TableColumn, TableRow } from '../../../../core/contract/index.ts';
import { statusTone, type StatusTone } from '../../../kinds/status-tone.ts';

const cellOf = (columns: readonly TableColumn[], row: TableRow, name: string): string => {
  const index = columns.findIndex((column) => column.name.toLowerCase() === name);
  const cell = row.cells[index];
  return cell === null || cell === undefined ? '' : `${cell}`;
};

export interface PodFact {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly status: string;
  readonly ready: string;
  readonly restarts: string;
  readonly labels: Readonly<Record<string, string>>;
}

export const podFacts = (columns: readonly TableColumn[], rows: Iterable<TableRow>): readonly PodFact[] =>
  [...rows].map((row) => ({
    key: row.key,
    namespace: row.namespace,
    name: row.name,
    node: cellOf(columns, row, 'node').replace('<none>', ''),
    status: cellOf(columns, row, 'status'),
    ready: cellOf(columns, row, 'ready'),
    restarts: cellOf(columns, row, 'restarts'),
    labels: row.labels,
  }));

export interface NodeFact {
  readonly name: string;
  readonly status: string;
  readonly isReady: boolean;
  readonly isCordoned: boolean;
  readonly isControlPlane: boolean;
  readonly version: string;
  readonly address: string;
}

const CONTROL_PLANE_LABELS = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];

export const nodeFacts = (columns: readonly TableColumn[], rows: Iterable<TableRow>): readonly NodeFact[] =>
  [...rows]
    .map((row) => {
      const status = cellOf(columns, row, 'status');
      const words = status.split(',');
      return {
        name: row.name,
        status,
        isReady: words.includes('Ready'),
        isCordoned: words.includes('SchedulingDisabled'),
        isControlPlane: CONTROL_PLANE_LABELS.some((label) => label in row.labels),
        version: cellOf(columns, row, 'version'),
        address: cellOf(columns, row, 'internal-ip').replace('<none>', ''),
      };
    })
    .sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));

export interface PodCounts {
  readonly total: number;
  readonly running: number;
  readonly failing: number;
  readonly pending: number;
  /** Of kube-system, and neither failing nor pending. */
  readonly system: number;
}

const NO_PODS: PodCounts = { total: 0, running: 0, failing: 0, pending: 0, system: 0 };

/** Pods that ended take no slot of a node. */
export const isEnded = ({ status }: Pick<PodFact, 'status'>): boolean =>
  status === 'Completed' || status === 'Succeeded' || status === 'Evicted' || status === 'Failed';

const podTone = ({ status, ready }: PodFact): StatusTone => {
  const tone = statusTone(status) ?? 'ok';
  const [up, all] = ready.split('/');
  // Running, but a container is not ready: it serves no one yet.
  return tone === 'ok' && status === 'Running' && up !== all ? 'pending' : tone;
};

const countInto = (counts: PodCounts, pod: PodFact): PodCounts => {
  const tone = podTone(pod);
  const isFailing = tone === 'error' || tone === 'warn';
  const isPending = tone === 'pending';
  return {
    total: counts.total + 1,
    running: counts.running + (isFailing || isPending ? 0 : 1),
    failing: counts.failing + (isFailing ? 1 : 0),
    pending: counts.pending + (isPending ? 1 : 0),
    system: counts.system + (!isFailing && !isPending && pod.namespace === 'kube-system' ? 1 : 0),
  };
};

export const countPods = (pods: readonly PodFact[]): PodCounts =>
  pods.filter((pod) => !isEnded(pod)).reduce(countInto, NO_PODS);

export const podsByNode = (pods: readonly PodFact[]): ReadonlyMap<string, PodCounts> => {
  const counts = new Map<string, PodCounts>();
  for (const pod of pods)
    if (pod.node !== '' && !isEnded(pod))
      counts.set(pod.node, countInto(counts.get(pod.node) ?? NO_PODS, pod));
  return counts;
};

/** The name of what made a pod, as far as its own name tells: `ledger-api` of `ledger-api-6d8f7c4b9-5lq2m`. */
const familyOf = ({ namespace, name }: PodFact): string =>
  `${namespace}/${name.replace(/(-[a-z0-9]{8,10})?-[a-z0-9]{5}$/, '')}`;

export interface FailingFamily {
  readonly name: string;
  readonly status: string;
  readonly failing: number;
  readonly total: number;
  /** One of them, to open. */
  readonly key: string;
}

/** Pods that need a person, gathered by what made them, the most first. */
export const failingFamilies = (pods: readonly PodFact[]): readonly FailingFamily[] => {
  const families = new Map<string, { failing: number; total: number; status: string; key: string }>();
  for (const pod of pods) {
    if (isEnded(pod)) continue;
    const family = families.get(familyOf(pod)) ?? { failing: 0, total: 0, status: '', key: '' };
    family.total += 1;
    const tone = podTone(pod);
    if (tone === 'error' || tone === 'warn') {
      family.failing += 1;
      family.status = pod.status;
      family.key = pod.key;
    }
    families.set(familyOf(pod), family);
  }
  return [...families]
    .filter(([, { failing }]) => failing > 0)
    .map(([name, family]) => ({ name, ...family }))
    .sort((a, b) => b.failing - a.failing || naturalOrder(a.name, b.name));
};
