import type { Registry } from '../../base/metrics/index.ts';
import { exposeProcess } from '../../base/node/process-metrics.ts';
import type { Member } from '../member/member.ts';
import { registerIdle } from './idle-metrics.ts';
import { registerState } from './state-metrics.ts';
import { ETCD_VERSION } from '../version.ts';

/** What is read off a member on a scrape. */
export const registerMember = (registry: Registry, member: Member): void => {
  const { machine } = member;
  const gauge = (name: string, help: string, readValue: () => number): void =>
    registry.gaugeFunction({ name, help }, readValue);
  gauge('etcd_server_has_leader', 'Whether or not a leader exists. 1 is existence, 0 is not.', () =>
    Number(member.hasLeader),
  );
  gauge('etcd_server_is_leader', 'Whether or not this member is a leader. 1 if is, 0 otherwise.', () =>
    Number(member.isLeader),
  );
  gauge('etcd_server_is_learner', 'Whether or not this member is a learner. 1 if is, 0 otherwise.', () =>
    Number(member.isLearner),
  );
  gauge(
    'etcd_server_proposals_committed_total',
    'The total number of consensus proposals committed.',
    () => member.status.commit,
  );
  gauge(
    'etcd_server_proposals_pending',
    'The current number of pending proposals to commit.',
    () => member.proposals.count,
  );
  gauge(
    'etcd_mvcc_db_total_size_in_bytes',
    'Total size of the underlying database physically allocated in bytes.',
    () => machine.backend.size().totalBytes,
  );
  gauge(
    'etcd_mvcc_db_total_size_in_use_in_bytes',
    'Total size of the underlying database logically in use in bytes.',
    () => machine.backend.size().inUseBytes,
  );
  gauge(
    'etcd_server_quota_backend_bytes',
    'Current backend storage quota size in bytes.',
    () => member.config.quotaBytes,
  );
  gauge(
    'etcd_debugging_mvcc_keys_total',
    'Total number of keys.',
    () => machine.store.range({ key: Buffer.from([0]), rangeEnd: Buffer.from([0]), countOnly: true }).count,
  );
  gauge(
    'etcd_debugging_mvcc_current_revision',
    'The current revision of store.',
    () => machine.store.revision,
  );
  gauge('etcd_debugging_mvcc_compact_revision', 'The revision of the last compaction in store.', () =>
    Math.max(0, machine.store.compactRevision),
  );
  gauge(
    'etcd_debugging_mvcc_watcher_total',
    'Total number of watchers.',
    () => machine.watchHub.counts.watchers,
  );
  gauge(
    'etcd_debugging_mvcc_slow_watcher_total',
    'Total number of unsynced slow watchers.',
    () => machine.watchHub.counts.slow,
  );
  gauge(
    'etcd_debugging_mvcc_pending_events_total',
    'Total number of pending events to be sent.',
    () => machine.watchHub.counts.eventsPending,
  );
  gauge(
    'etcd_mvcc_db_open_read_transactions',
    'The number of currently open read transactions',
    () => machine.backend.openSnapshots,
  );
  registry.counterFunction(
    { name: 'etcd_debugging_mvcc_events_total', help: 'Total number of events sent by this member.' },
    () => machine.watchHub.counts.eventsSent,
  );
  registry.counterFunction(
    { name: 'etcd_mvcc_range_total', help: 'Total number of ranges seen by this member.' },
    () => machine.store.counts.ranges,
  );
  registry.counterFunction(
    { name: 'etcd_mvcc_txn_total', help: 'Total number of txns seen by this member.' },
    () => machine.store.counts.txns,
  );
  const changes = { put: 0, delete: 0 };
  machine.store.onChange((_revision, events) => {
    for (const { type } of events) changes[type] += 1;
  });
  registry.counterFunction(
    { name: 'etcd_mvcc_put_total', help: 'Total number of puts seen by this member.' },
    () => changes.put,
  );
  registry.counterFunction(
    { name: 'etcd_mvcc_delete_total', help: 'Total number of deletes seen by this member.' },
    () => changes.delete,
  );
  registry.counterFunction(
    { name: 'etcd_server_proposals_failed_total', help: 'The total number of failed proposals seen.' },
    () => member.proposals.failedCount,
  );
  exposeProcess(registry);
  registerIdle(registry);
  registerState(registry, member);
  registry
    .gaugeFamily({
      name: 'etcd_server_id',
      help: "Server or member ID in hexadecimal format. 1 for 'server_id' label with current ID.",
      labels: ['server_id'],
    })
    .labels(member.id.toString(16))
    .set(1);
  registry
    .gaugeFamily({
      name: 'etcd_server_version',
      help: "Which version is running. 1 for 'server_version' label with current version.",
      labels: ['server_version'],
    })
    .labels(ETCD_VERSION)
    .set(1);
  registry
    .gaugeFamily({
      name: 'etcd_server_go_version',
      help: "Which Go version server is running with. 1 for 'server_go_version' label with current version.",
      labels: ['server_go_version'],
    })
    // There is no Go here: the label names the runtime that there is.
    .labels(`node${process.versions.node}`)
    .set(1);
};
