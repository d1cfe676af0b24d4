import { readdirSync, readFileSync } from 'node:fs';
import type { Registry } from '../../base/metrics/index.ts';
import { FEATURE_GATES, type FeatureGate } from '../config/gate-names.ts';
import type { Member } from '../member/member.ts';
import { ALARM_TYPE } from '../proto/index.ts';

/** 0 where the system does not tell. */
export const fileDescriptorLimit = (): number => {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
};

const fileDescriptorsUsed = (): number => {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
};

/** What a member is at the moment of a scrape, as far as it has labels or comes from elsewhere than its store. */
export const registerState = (registry: Registry, member: Member): void => {
  const { machine, config } = member;
  registry.gaugeFunction(
    { name: 'etcd_debugging_auth_revision', help: 'The current revision of auth store.' },
    () => machine.auth.revision,
  );
  let putBytes = 0;
  machine.store.onChange((_revision, events) => {
    for (const event of events)
      if (event.type === 'put') putBytes += event.key.length + event.kv.value.byteLength;
  });
  registry.gaugeFunction(
    {
      name: 'etcd_debugging_mvcc_total_put_size_in_bytes',
      help: 'The total size of put kv pairs seen by this member.',
    },
    () => putBytes,
  );
  registry.gaugeFunction({ name: 'os_fd_limit', help: 'The file descriptor limit.' }, fileDescriptorLimit);
  registry.gaugeFunction(
    { name: 'os_fd_used', help: 'The number of used file descriptors.' },
    fileDescriptorsUsed,
  );
  const features = registry.gaugeFamily({
    name: 'etcd_server_feature_enabled',
    help: 'Whether or not a feature is enabled. 1 is enabled, 0 is not.',
    labels: ['name', 'stage'] as const,
  });
  for (const [name, { stage }] of Object.entries(FEATURE_GATES))
    features.labels(name, stage).set(Number(config.gates[name as FeatureGate]));
  registerChanging(registry, member);
};

/** Those whose labels come and go: set again for each scrape, and 0 where they no longer hold. */
const registerChanging = (registry: Registry, member: Member): void => {
  const { membership, alarms } = member.machine;
  const version = registry.gaugeFamily({
    name: 'etcd_cluster_version',
    help: "Which version is running. 1 for 'cluster_version' label with current cluster version",
    labels: ['cluster_version'] as const,
  });
  const peers = registry.gaugeFamily({
    name: 'etcd_network_known_peers',
    help: 'The current number of known peers.',
    labels: ['Local', 'Remote'] as const,
  });
  const raised = registry.gaugeFamily({
    name: 'etcd_debugging_server_alarms',
    help: "Alarms for every member in cluster. 1 for 'server_id' label with current ID. 2 for 'alarm_type' label with type of this alarm",
    labels: ['server_id', 'alarm_type'] as const,
  });
  const alarmNames = Object.fromEntries(Object.entries(ALARM_TYPE).map(([name, type]) => [type, name]));
  let shown: { set(value: number): void }[] = [];
  registry.beforeExpose(() => {
    for (const gauge of shown) gauge.set(0);
    const { clusterVersion, members } = membership;
    shown = [
      ...(clusterVersion === undefined ? [] : [version.labels(clusterVersion.replace(/\.\d+$/, ''))]),
      // As with etcd, a member knows itself as well.
      ...members.map(({ id }) => peers.labels(member.id.toString(16), id.toString(16))),
      ...alarms
        .list(ALARM_TYPE.NONE)
        .map(({ memberID, alarm }) =>
          raised.labels(memberID.toString(16), alarmNames[alarm] ?? String(alarm)),
        ),
    ];
    for (const gauge of shown) gauge.set(1);
  });
};
