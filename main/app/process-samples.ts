import type { App, ProcessMetric } from 'electron';
import type { ProcessSample } from '../../core/contract/index.ts';
import type { ProcessSource } from '../ipc/handlers/index.ts';

const BYTES_PER_KIB = 1024;

const ROLES: Readonly<Record<string, string>> = {
  Browser: 'main',
  Tab: 'renderer',
  GPU: 'gpu',
  Utility: 'utility',
};

const sampleOf = ({ pid, type, name, serviceName, cpu, memory }: ProcessMetric): ProcessSample => ({
  pid,
  role: ROLES[type] ?? type.toLowerCase(),
  name: name ?? serviceName ?? type,
  cpuPercent: cpu.percentCPUUsage,
  memoryBytes: memory.workingSetSize * BYTES_PER_KIB,
});

/** Every process of the app, with the CPU each used since it was asked last. */
export const electronProcessSource =
  (app: Pick<App, 'getAppMetrics'>): ProcessSource =>
  () =>
    app.getAppMetrics().map(sampleOf);
