import type { Registry } from '../../base/metrics/index.ts';
import type { Availability } from './api-service.ts';

/** Upstream's two figures about APIServices. */
export const createAvailabilityMetrics = (metrics: Registry) => {
  const unavailable = metrics.gaugeFamily({
    name: 'aggregator_unavailable_apiservice',
    help: 'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
    labels: ['name'],
  });
  const changes = metrics.counterFamily({
    name: 'aggregator_unavailable_apiservice_total',
    help: 'Counter of APIServices which are marked as unavailable broken down by APIService name and reason.',
    labels: ['name', 'reason'],
  });
  const down = new Map<string, string>();
  return {
    set(name: string, { status, reason }: Availability): void {
      const isDown = status !== 'True';
      unavailable.labels(name).set(isDown ? 1 : 0);
      if (isDown && down.get(name) !== reason) changes.labels(name, reason).inc();
      if (isDown) down.set(name, reason);
      else down.delete(name);
    },
    forget(name: string): void {
      down.delete(name);
      unavailable.remove(name);
    },
  };
};
