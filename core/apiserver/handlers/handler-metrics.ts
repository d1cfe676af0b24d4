import type { Registry } from '../../base/metrics/index.ts';
import type { GroupVersionResource } from '../../api/meta/index.ts';

const WATCH_SIZE_BUCKETS_BYTES = [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072];
const BODY_SIZE_BUCKETS_BYTES = [
  50_000, 150_000, 250_000, 500_000, 1_000_000, 1_500_000, 2_000_000, 3_000_000,
];
const RESOURCES_MAX = 2000;

export interface WatchMeter {
  /** One event was sent, of so many bytes. */
  sent(bytes: number): void;
}

export interface HandlerMetrics {
  watchOf(resource: GroupVersionResource): WatchMeter;
  bodyRead(resource: GroupVersionResource, verb: string, bytes: number): void;
}

/** Counters of what handlers do, under upstream's names. */
export const createHandlerMetrics = (registry: Registry): HandlerMetrics => {
  const events = registry.counterFamily({
    name: 'apiserver_watch_events_total',
    help: 'Events sent to watch clients.',
    labels: ['group', 'version', 'resource'],
    labelSetsMax: RESOURCES_MAX,
  });
  const sizes = registry.histogramFamily({
    name: 'apiserver_watch_events_sizes',
    help: 'Size of events sent to watch clients, in bytes.',
    labels: ['group', 'version', 'resource'],
    buckets: WATCH_SIZE_BUCKETS_BYTES,
    labelSetsMax: RESOURCES_MAX,
  });
  const bodies = registry.histogramFamily({
    name: 'apiserver_request_body_size_bytes',
    help: 'Size of the bodies of requests, in bytes.',
    labels: ['group', 'resource', 'verb'],
    buckets: BODY_SIZE_BUCKETS_BYTES,
    labelSetsMax: RESOURCES_MAX,
  });
  return {
    watchOf({ group, version, resource }) {
      const count = events.labels(group, version, resource);
      const size = sizes.labels(group, version, resource);
      return {
        sent(bytes) {
          count.inc();
          size.observe(bytes);
        },
      };
    },
    bodyRead: ({ group, resource }, verb, bytes) => bodies.labels(group, resource, verb).observe(bytes),
  };
};
