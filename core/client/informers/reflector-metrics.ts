import type { Counter, Family, Gauge, Registry } from '../../base/metrics/index.ts';

type ByName<T> = Family<T, readonly ['name']>;

interface Families {
  readonly lists: ByName<Counter>;
  readonly watches: ByName<Counter>;
  readonly shortWatches: ByName<Counter>;
  readonly resourceVersion: ByName<Gauge>;
}

/** The names that client-go's reflectors reported under. */
export interface ReflectorMetrics {
  readonly lists: Counter;
  readonly watches: Counter;
  readonly shortWatches: Counter;
  readonly resourceVersion: Gauge;
}

const families = new WeakMap<Registry, Families>();

const familiesOf = (registry: Registry): Families => {
  const known = families.get(registry);
  if (known) return known;
  const labels = ['name'] as const;
  const made: Families = {
    lists: registry.counterFamily({
      name: 'reflector_lists_total',
      help: 'Total number of API lists done by the reflectors',
      labels,
    }),
    watches: registry.counterFamily({
      name: 'reflector_watches_total',
      help: 'Total number of API watches done by the reflectors',
      labels,
    }),
    shortWatches: registry.counterFamily({
      name: 'reflector_short_watches_total',
      help: 'Total number of short API watches done by the reflectors',
      labels,
    }),
    resourceVersion: registry.gaugeFamily({
      name: 'reflector_last_resource_version',
      help: 'Last resource version seen for the reflectors',
      labels,
    }),
  };
  families.set(registry, made);
  return made;
};

export const reflectorMetrics = (registry: Registry, name: string): ReflectorMetrics => {
  const all = familiesOf(registry);
  return {
    lists: all.lists.labels(name),
    watches: all.watches.labels(name),
    shortWatches: all.shortWatches.labels(name),
    resourceVersion: all.resourceVersion.labels(name),
  };
};
