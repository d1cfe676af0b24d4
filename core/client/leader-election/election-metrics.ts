import type { Counter, Family, Gauge, Registry } from '../../base/metrics/index.ts';

interface Families {
  readonly status: Family<Gauge, readonly ['name']>;
  readonly slowPath: Family<Counter, readonly ['name']>;
}

const families = new WeakMap<Registry, Families>();

export interface ElectionMetrics {
  readonly status: Gauge;
  readonly slowPath: Counter;
}

export const electionMetrics = (registry: Registry, name: string): ElectionMetrics => {
  let known = families.get(registry);
  if (!known) {
    const labels = ['name'] as const;
    known = {
      status: registry.gaugeFamily({
        name: 'leader_election_master_status',
        help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
        labels,
      }),
      slowPath: registry.counterFamily({
        name: 'leader_election_slowpath_total',
        help: "Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify the lease. Please make sure to group by name.",
        labels,
      }),
    };
    families.set(registry, known);
  }
  return { status: known.status.labels(name), slowPath: known.slowPath.labels(name) };
};
