import type { Registry } from '../metrics/index.ts';

const MS_PER_SECOND = 1000;
const MICROSECONDS_PER_SECOND = 1e6;

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
};
