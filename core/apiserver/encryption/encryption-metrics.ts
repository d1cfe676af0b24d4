import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Counter, Registry } from '../../base/metrics/index.ts';
import { groupResourceText, type GroupResource } from '../../api/meta/index.ts';
import type { OnTransformed } from './prefixed.ts';
import type { OnResourceTransformed } from './transformers.ts';

const LABEL_SETS_MAX = 4000;

type Direction = Parameters<OnTransformed>[0];

/** The code of a gRPC error, which only a KMS plugin gives. */
const statusOf = (error: unknown): string => {
  if (error === undefined) return 'OK';
  const text = error instanceof Error ? error.message : '';
  return /rpc error: code = (\w+)/.exec(text)?.[1] ?? 'unknown-non-grpc';
};

export interface EncryptionMetrics {
  readonly transformed: OnResourceTransformed;
  loaded(hash: string): void;
  reloaded(hash: string): void;
  reloadFailed(): void;
}

/** Upstream's names. */
export const encryptionMetrics = (
  metrics: Registry,
  apiServerId: string,
  clock: Clock,
): EncryptionMetrics => {
  const idHash = `sha256:${createHash('sha256').update(apiServerId).digest('hex')}`;
  const operations = metrics.counterFamily({
    name: 'apiserver_storage_transformation_operations_total',
    help: "Total number of transformations. Successful transformation will have a status 'OK' and a varied status string when the transformation fails.",
    labels: ['resource', 'transformation_type', 'transformer_prefix', 'status'],
    labelSetsMax: LABEL_SETS_MAX,
  });
  const reloads = metrics.counterFamily({
    name: 'apiserver_encryption_config_controller_automatic_reloads_total',
    help: 'Total number of reload successes and failures of encryption configuration split by apiserver identity.',
    labels: ['status', 'apiserver_id_hash'],
  });
  const lastSeconds = metrics.gaugeFamily({
    name: 'apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds',
    help: 'Timestamp of the last successful or failed automatic reload of encryption configuration split by apiserver identity.',
    labels: ['status', 'apiserver_id_hash'],
  });
  const info = metrics.gaugeFamily({
    name: 'apiserver_encryption_config_controller_last_config_info',
    help: 'Information about the last applied encryption configuration with hash as label, split by apiserver identity.',
    labels: ['apiserver_id_hash', 'hash'],
  });
  const record = (status: 'success' | 'failure'): void => {
    reloads.labels(status, idHash).inc();
    lastSeconds.labels(status, idHash).set(clock.nowMs() / 1000);
  };
  const loaded = (hash: string): void => {
    info.clear();
    info.labels(idHash, hash).set(1);
  };
  /** Looked up for every value: found by the resource's object and the prefix, which transformers keep. */
  const passed = new WeakMap<GroupResource, Record<Direction, Map<string, Counter>>>();
  const passedCounter = (resource: GroupResource, direction: Direction, prefix: string): Counter => {
    let counters = passed.get(resource);
    if (!counters) passed.set(resource, (counters = { from_storage: new Map(), to_storage: new Map() }));
    let counter = counters[direction].get(prefix);
    if (!counter) {
      counter = operations.labels(groupResourceText(resource), direction, prefix, 'OK');
      counters[direction].set(prefix, counter);
    }
    return counter;
  };
  return {
    transformed(resource, direction, prefix, error) {
      if (error === undefined) passedCounter(resource, direction, prefix).inc();
      else operations.labels(groupResourceText(resource), direction, prefix, statusOf(error)).inc();
    },
    loaded,
    reloaded(hash) {
      record('success');
      loaded(hash);
    },
    reloadFailed: () => record('failure'),
  };
};
