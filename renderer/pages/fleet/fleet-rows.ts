import type { ClusterEntry, TableColumn, TableRow } from '../../../core/contract/index.ts';
import { naturalOrder } from '../../../core/base/natural-order.ts';
import { isStatusColumn } from '../../kinds/status-tone.ts';
import { rowFilter } from '../../tables/row-filter.ts';

/** Kinds that every cluster serves in the same version. */
export const FLEET_KINDS = [
  { kind: 'Pod', group: '', version: 'v1', plural: 'pods' },
  { kind: 'Deployment', group: 'apps', version: 'v1', plural: 'deployments' },
  { kind: 'StatefulSet', group: 'apps', version: 'v1', plural: 'statefulsets' },
  { kind: 'DaemonSet', group: 'apps', version: 'v1', plural: 'daemonsets' },
  { kind: 'Job', group: 'batch', version: 'v1', plural: 'jobs' },
  { kind: 'Service', group: '', version: 'v1', plural: 'services' },
  { kind: 'Ingress', group: 'networking.k8s.io', version: 'v1', plural: 'ingresses' },
  { kind: 'ConfigMap', group: '', version: 'v1', plural: 'configmaps' },
  { kind: 'PersistentVolumeClaim', group: '', version: 'v1', plural: 'persistentvolumeclaims' },
  { kind: 'Namespace', group: '', version: 'v1', plural: 'namespaces' },
  { kind: 'Node', group: '', version: 'v1', plural: 'nodes' },
] as const;
export type FleetKind = (typeof FLEET_KINDS)[number];

/** More are counted, not drawn: a person narrows the filter before reading this far. */
export const FLEET_ROWS_MAX = 500;

/** The list of one cluster, as far as it is known. */
export interface ClusterPart {
  readonly entry: ClusterEntry;
  readonly columns: readonly TableColumn[];
  readonly rows: readonly TableRow[];
  readonly isListed: boolean;
  /** Why there is no list, or none that is up to date. */
  readonly problem: string | undefined;
}

export interface FleetRow {
  readonly key: string;
  readonly entry: ClusterEntry;
  readonly row: TableRow;
  /** Status where the kind has one, else ready replicas. */
  readonly status: string;
}

const statusOf = ({ columns }: ClusterPart, { cells }: TableRow): string => {
  const at = columns.findIndex(({ name }) => isStatusColumn(name));
  const ready = columns.findIndex(({ name }) => name === 'Ready' || name === 'Completions');
  return String(cells[at >= 0 ? at : ready] ?? '');
};

/** The rows of all clusters that fit the filter, by name; the name of a cluster is a word of the filter too. */
export const fleetRows = (parts: readonly ClusterPart[], query: string): FleetRow[] => {
  const words = query.trim().split(/\s+/).filter(Boolean);
  return parts
    .flatMap((part) => {
      const named = part.entry.name.toLowerCase();
      const rest = words.filter((word) => !named.includes(word.toLowerCase()));
      const filter = rowFilter(rest.join(' '));
      return part.rows
        .filter((row) => filter?.matches(row) ?? true)
        .map((row) => ({
          key: `${part.entry.id}\n${row.key}`,
          entry: part.entry,
          row,
          status: statusOf(part, row),
        }));
    })
    .sort(
      (a, b) =>
        naturalOrder(a.row.name, b.row.name) ||
        naturalOrder(a.entry.name, b.entry.name) ||
        naturalOrder(a.row.namespace, b.row.namespace),
    );
};
