import { formatLabelSelector, type LabelSelectorObject } from '../../selector/index.ts';
import { list, text, wide, type TableColumn } from './printer.ts';

/** Texts that several kinds print alike. */
export const labelsText = (labels: unknown): string => {
  const pairs = Object.entries((labels ?? {}) as Record<string, string>).map(
    ([key, value]) => `${key}=${value}`,
  );
  return pairs.length === 0 ? '<none>' : pairs.sort().join(',');
};

export const selectorText = (selector: unknown): string =>
  formatLabelSelector(selector as LabelSelectorObject | undefined);

/** The first few, and how many more there are. */
export const someOf = (items: readonly string[], itemsMax: number, separator = ','): string => {
  const shown = items.slice(0, itemsMax).join(separator);
  return items.length > itemsMax ? `${shown} + ${items.length - itemsMax} more...` : shown;
};

export const CONTAINER_COLUMNS: readonly TableColumn[] = [
  wide('Containers', 'The names of the containers in the template.'),
  wide('Images', 'The images of the containers in the template.'),
];

export const containerCells = (podSpec: unknown): [string, string] => {
  const containers = list(podSpec, 'containers');
  return [
    containers.map((container) => text(container, 'name')).join(','),
    containers.map((container) => text(container, 'image')).join(','),
  ];
};

const ACCESS_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

/** In the order upstream lists them, each once. */
export const accessModesText = (modes: unknown): string => {
  const given = new Set((modes ?? []) as string[]);
  return Object.entries(ACCESS_MODES)
    .filter(([mode]) => given.has(mode))
    .map(([, short]) => short)
    .join(',');
};

/** Addresses of a load balancer, sorted, each once. */
export const loadBalancerText = (status: unknown): string => {
  const addresses = list(status, 'loadBalancer', 'ingress').map(
    (entry) => text(entry, 'ip') || text(entry, 'hostname'),
  );
  return [...new Set(addresses.filter((address) => address !== ''))].sort().join(',');
};

export const isConditionTrue = (status: unknown, type: string): boolean =>
  list(status, 'conditions').find((condition) => condition['type'] === type)?.['status'] === 'True';
