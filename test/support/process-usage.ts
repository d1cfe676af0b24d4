import { readFileSync } from 'node:fs';

/** USER_HZ of Linux. */
const TICKS_PER_SECOND = 100;
const BYTES_PER_MIB = 2 ** 20;
const PAGE_BYTES = 4096;

export interface ProcessUsage {
  /** Since its start, in user and in kernel mode. */
  readonly cpuSeconds: number;
  readonly rssMib: number;
}

/** What a process of Linux has used. */
export const usageOf = (pid: number): ProcessUsage => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold spaces; what follows does not.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    rssMib: (Number(fields[21]) * PAGE_BYTES) / BYTES_PER_MIB,
  };
};
