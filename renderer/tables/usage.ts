import type { TableRow } from '../../core/contract/index.ts';
import { readAmount } from '../kinds/details/amounts.ts';
import { listAt, textAt } from '../kinds/kube-object.ts';
import { t } from '../locales/i18n.ts';
import type { AddedColumn } from './table-layout.ts';

export interface Usage {
  /** In thousandths of a core. */
  readonly cpuMilli: number;
  readonly memoryBytes: number;
}

const BYTES_PER_MEBIBYTE = 2 ** 20;

const usageOf = (holder: unknown): Usage => ({
  cpuMilli: (readAmount(textAt(holder, 'usage', 'cpu'))?.toNumber() ?? 0) * 1000,
  memoryBytes: readAmount(textAt(holder, 'usage', 'memory'))?.toNumber() ?? 0,
});

/** By the key of the row: namespace/name, of a PodMetricsList or a NodeMetricsList. */
export const usageByKey = (list: unknown): ReadonlyMap<string, Usage> =>
  new Map(
    listAt(list, 'items').map((item) => {
      const containers = listAt(item, 'containers');
      const parts = containers.length > 0 ? containers.map(usageOf) : [usageOf(item)];
      return [
        `${textAt(item, 'metadata', 'namespace')}/${textAt(item, 'metadata', 'name')}`,
        {
          cpuMilli: parts.reduce((sum, part) => sum + part.cpuMilli, 0),
          memoryBytes: parts.reduce((sum, part) => sum + part.memoryBytes, 0),
        },
      ];
    }),
  );

/** As `kubectl top` writes them. */
export const cpuText = ({ cpuMilli }: Usage): string => `${Math.ceil(cpuMilli)}m`;
export const memoryText = ({ memoryBytes }: Usage): string =>
  `${Math.floor(memoryBytes / BYTES_PER_MEBIBYTE)}Mi`;

export const usageColumns = (usage: ReadonlyMap<string, Usage>): readonly AddedColumn[] => {
  const read =
    (text: (each: Usage) => string) =>
    (row: TableRow): string => {
      const found = usage.get(row.key);
      return found ? text(found) : '';
    };
  return [
    { id: 'CPU', name: t('table.cpu'), description: t('table.cpu.text'), read: read(cpuText) },
    { id: 'Memory', name: t('table.memory'), description: t('table.memory.text'), read: read(memoryText) },
  ];
};
