import { quantityFrom } from '../../../api/quantity/index.ts';
import type { V1Container } from '../../../api/schema/index.ts';
import type { ContainerUsage } from '../runtime.ts';
import type { Behaviour } from './behaviour.ts';

/** What an idle process takes. */
const CPU_NANO_CORES_IDLE = 1_000_000;
const MEMORY_BYTES_IDLE = 12 * 1024 * 1024;
/** Share of its request that a container takes when nothing else is said. */
const CPU_SHARE = 0.2;
const MEMORY_SHARE = 0.5;
/** Usage swings by this share around its mean, so that charts look alive and averages stay right. */
const SWING = 0.1;
const SWING_PERIOD_MS = 300_000;

export interface Usage {
  /** `ageMs` since the start. */
  read(ageMs: number): ContainerUsage;
}

const request = (container: V1Container, name: string): number =>
  quantityFrom(container.resources?.requests?.[name]).toNumber();

/** What a container claims to use: by its annotations, else by its requests. `phase` keeps pods out of step. */
export const usageOf = (container: V1Container, behaviour: Behaviour, phase: number): Usage => {
  const cpu = behaviour.cpuNanoCores ?? (request(container, 'cpu') * 1e9 * CPU_SHARE || CPU_NANO_CORES_IDLE);
  const memory = behaviour.memoryBytes ?? (request(container, 'memory') * MEMORY_SHARE || MEMORY_BYTES_IDLE);
  return {
    read(ageMs) {
      const turn = (2 * Math.PI * ageMs) / SWING_PERIOD_MS + phase;
      const swing = 1 + SWING * Math.sin(turn);
      // The integral of the swing, so that the counter is what the gauge says.
      const seconds =
        ageMs / 1000 +
        ((SWING * SWING_PERIOD_MS) / 1000 / (2 * Math.PI)) * (Math.cos(phase) - Math.cos(turn));
      return {
        cpuNanoCores: Math.round(cpu * swing),
        cpuCoreNanoSeconds: Math.round(cpu * seconds),
        memoryBytes: Math.round(memory * swing),
      };
    },
  };
};

/** A container that claims more than its limit is killed, as the kernel would. */
export const isOutOfMemory = (container: V1Container, behaviour: Behaviour): boolean => {
  const limit = container.resources?.limits?.['memory'];
  return (
    limit !== undefined &&
    behaviour.memoryBytes !== undefined &&
    behaviour.memoryBytes > quantityFrom(limit).toNumber()
  );
};
