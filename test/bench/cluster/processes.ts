import { readdirSync, readFileSync } from 'node:fs';
import { usageOf } from '../../support/process-usage.ts';

const KIB_PER_MIB = 1024;

export interface TreeUsage {
  readonly processes: number;
  /** Since their start, of those that live now. */
  readonly cpuSeconds: number;
  /** Resident memory as each process counts it: pages that are shared count in each of them. */
  readonly rssMib: number;
  /** The same with every shared page counted once. */
  readonly pssMib: number;
}

const parentOf = (pid: number): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // It has ended since the folder was read.
    return undefined;
  }
};

/** A process and all that it has started, as Linux knows them. */
export const treeOf = (root: number): readonly number[] => {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? parentOf(pid) : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
};

const pssMibOf = (pid: number): number =>
  Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? NaN) /
  KIB_PER_MIB;

export const treeUsage = (root: number): TreeUsage => {
  const pids = treeOf(root);
  const usages = pids.map(usageOf);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    processes: pids.length,
    cpuSeconds: sum(usages.map(({ cpuSeconds }) => cpuSeconds)),
    rssMib: sum(usages.map(({ rssMib }) => rssMib)),
    pssMib: sum(pids.map(pssMibOf)),
  };
};
