import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Registry as Metrics } from '../../base/metrics/index.ts';
import { groupResourceText, type GroupResource } from '../../api/meta/index.ts';
import { registryOf } from '../../api/scheme/index.ts';
import type { ObjectRegistry } from '../registry/create-registry.ts';
import { MeteredStore } from '../storage/metered-store.ts';
import type { Store } from '../storage/store.ts';

const RESOURCES_MAX = 2000;

/** Keys of the built-in kinds begin with two or three parts: `/registry/pods/`, `/registry/services/specs/`. */
const PREFIX = /^(\/[^/]+\/[^/]+\/)([^/]+\/)?/;

/** Custom resources are kept below their group, which has a dot. */
const customResource = (short: string, more: string): GroupResource | undefined => {
  const group = short.split('/')[2] ?? '';
  return more !== '' && group.includes('.') ? { group, resource: more.slice(0, -1) } : undefined;
};

export const meteredStore = (
  store: Store,
  { metrics, clock, minor }: { readonly metrics: Metrics; readonly clock: Clock; readonly minor: number },
): Store => {
  const resources = new Map<string, GroupResource>();
  for (const { storage, group, plural } of registryOf(minor).resources)
    if (storage && !resources.has(storage.prefix)) resources.set(storage.prefix, { group, resource: plural });
  return new MeteredStore(store, {
    metrics,
    clock,
    resourceOf(key) {
      const [, short = '', more = ''] = PREFIX.exec(key) ?? [];
      return resources.get(`${short}${more}`) ?? resources.get(short) ?? customResource(short, more);
    },
  });
};

/** The number of objects of each resource, read off the caches when it is read; also under its older name. */
export const exposeObjectCounts = (metrics: Metrics, registry: ObjectRegistry): Disposable => {
  const counts = metrics.gaugeFamily({
    name: 'apiserver_resource_objects',
    help: 'Number of stored objects at the time of last check split by kind.',
    labels: ['group', 'resource'],
    labelSetsMax: RESOURCES_MAX,
  });
  const older = metrics.gaugeFamily({
    name: 'apiserver_storage_objects',
    help: 'Number of stored objects at the time of last check split by kind; apiserver_resource_objects names the group too.',
    labels: ['resource'],
    labelSetsMax: RESOURCES_MAX,
  });
  return metrics.beforeExpose(() => {
    for (const { resource, count } of registry.objectCounts()) {
      counts.labels(resource.group, resource.resource).set(count);
      older.labels(groupResourceText(resource)).set(count);
    }
  });
};
