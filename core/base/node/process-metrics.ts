import { readdirSync, readFileSync } from 'node:fs';
import type { Registry } from '../metrics/index.ts';

const MS_PER_SECOND = 1000;
const MICROSECONDS_PER_SECOND = 1e6;
const KIB = 1024;

/**
 * `process_*` as client_golang's process collector names them. Components that are threads of one host share a process,
 * and each of them tells the whole of it.
 */
export const exposeProcess = (registry: Registry): void => {
  const startSeconds = Date.now() / MS_PER_SECOND - process.uptime();
  registry.counterFunction(
    { name: 'process_cpu_seconds_total', help: 'Total user and system CPU time spent in seconds.' },
    () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / MICROSECONDS_PER_SECOND;
    },
  );
  registry.gaugeFunction(
    { name: 'process_resident_memory_bytes', help: 'Resident memory size in bytes.' },
    () => process.memoryUsage.rss(),
  );
  registry.gaugeFunction(
    {
      name: 'process_start_time_seconds',
      help: 'Start time of the process since unix epoch in seconds.',
    },
    () => startSeconds,
  );
  if (process.platform === 'linux') exposeProc(registry);
};

/** What only Linux tells, as client_golang reads it there. */
const exposeProc = (registry: Registry): void => {
  registry.gaugeFunction(
    { name: 'process_open_fds', help: 'Number of open file descriptors.' },
    () => readdirSync('/proc/self/fd').length,
  );
  registry.gaugeFunction({ name: 'process_max_fds', help: 'Maximum number of open file descriptors.' }, () =>
    Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity),
  );
  registry.gaugeFunction(
    { name: 'process_virtual_memory_bytes', help: 'Virtual memory size in bytes.' },
    () => Number(/^VmSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) * KIB,
  );
};
