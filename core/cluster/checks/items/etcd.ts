import { quantileOf } from '../../monitor/scrape/quantile.ts';
import { presentedCertificate } from '../../monitor/certificates/presented.ts';
import { flagOf } from '../../data-folder/in-flight-limits.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { parseDurationMs } from '../../../base/duration.ts';
import { FSYNC_MISSES_HEARTBEATS_MS, FSYNC_RECOMMENDED_MS, say } from '../../../contract/index.ts';
import { bad, byAction, byFlags, fixedBy, ok, warn, type CheckItem } from '../item.ts';
import type { Look } from '../look.ts';

const QUOTA_SHARE_MAX = 0.8;
const MIB = 1024 * 1024;
/** Upstream compacts what is older than this, twice over before it is gone. */
const COMPACTION_DEFAULT_MS = 300_000;
const REVISIONS_KEPT_MAX = 100_000;
const SEEN_MIN = 100;
const SECOND_MS = 1000;

const etcdTargets = ({ targets }: Look) => targets.filter(({ component }) => component === 'etcd');

const members: CheckItem = {
  id: 'etcdMembers',
  async measure(look) {
    const all = await look.members();
    const voters = all.filter(({ isLearner }) => !isLearner);
    const silent = voters.filter(({ status }) => !status).map(({ name }) => name);
    const count = voters.length;
    const advice = say('advice.addMembers');
    if (silent.length > 0)
      return bad(
        say('found.etcdMembers.unreachable', { names: silent.join(', '), count }),
        say('advice.recoverMember'),
      );
    const addMember = byAction({ kind: 'member.add' });
    if (count < 3) return fixedBy(bad(say('found.etcdMembers.few', { count }), advice), addMember);
    if (count % 2 === 0)
      return fixedBy(warn(say('found.etcdMembers.even', { count, fewer: count - 1 }), advice), addMember);
    return ok(say('found.etcdMembers.ok', { count, tolerance: (count - 1) / 2 }));
  },
};

const diskLatency: CheckItem = {
  id: 'diskLatency',
  async measure(look) {
    const targets = etcdTargets(look);
    if (targets.length === 0)
      return warn(say('found.diskLatency.external'), say('advice.diskLatency.external'));
    const measured = await Promise.all(
      targets.map(async (target) => {
        const buckets = (await look.reading(target)).histograms.get('etcdFsync');
        const seconds =
          buckets && (buckets.counts.at(-1) ?? 0) >= SEEN_MIN ? quantileOf(buckets, 0.99) : undefined;
        return { name: target.instance, seconds };
      }),
    );
    const known = measured.flatMap(({ name, seconds }) => (seconds === undefined ? [] : [{ name, seconds }]));
    if (known.length === 0) return warn(say('found.diskLatency.unknown'), say('advice.diskLatency.unknown'));
    const worst = known.reduce((so, one) => (one.seconds > so.seconds ? one : so));
    const found = say('found.diskLatency', {
      member: worst.name,
      ms: Math.round(worst.seconds * 10_000) / 10,
    });
    const advice = say('advice.diskLatency', { limit: FSYNC_RECOMMENDED_MS });
    const ms = worst.seconds * SECOND_MS;
    if (ms > FSYNC_MISSES_HEARTBEATS_MS) return bad(found, advice);
    return ms > FSYNC_RECOMMENDED_MS ? warn(found, advice) : ok(found);
  },
};

const quota: CheckItem = {
  id: 'etcdQuota',
  async measure(look) {
    const alarmed = (await look.members())
      .flatMap(({ status }) => status?.errors ?? [])
      .filter((text) => text.includes('NOSPACE'));
    if (alarmed.length > 0) return bad(say('found.etcdQuota.alarm'), say('advice.etcdQuota.alarm'));
    const readings = await Promise.all(
      etcdTargets(look).map(async (target) => ({ target, reading: await look.reading(target) })),
    );
    const shares = readings.flatMap(({ target, reading }) => {
      const bytes = reading.numbers.get('etcdDbBytes');
      const quotaBytes = reading.numbers.get('etcdQuotaBytes');
      return bytes === undefined || !quotaBytes || quotaBytes <= 0
        ? []
        : [{ name: target.instance, bytes, quotaBytes }];
    });
    if (shares.length === 0)
      return warn(say('found.etcdQuota.unknown'), say('advice.setFlag', { flag: '--quota-backend-bytes' }));
    const worst = shares.reduce((so, one) =>
      one.bytes / one.quotaBytes > so.bytes / so.quotaBytes ? one : so,
    );
    const found = say('found.etcdQuota', {
      member: worst.name,
      used: Math.ceil(worst.bytes / MIB),
      quota: Math.round(worst.quotaBytes / MIB),
    });
    return worst.bytes / worst.quotaBytes > QUOTA_SHARE_MAX
      ? fixedBy(warn(found, say('advice.etcdQuota')), byAction({ kind: 'etcd.defragment', member: null }))
      : ok(found);
  },
};

const peerCertificates: CheckItem = {
  id: 'peerCertificates',
  async measure(look) {
    if (look.etcdHosts.length === 0)
      return warn(say('found.peerCertificates.external'), say('advice.peerCertificates.external'));
    const shared: string[] = [];
    for (const { name, etcd } of look.etcdHosts) {
      const at = { host: etcd!.address, serverName: etcd!.name };
      const [client, peer] = await Promise.all([
        presentedCertificate({ ...at, port: PORTS.etcdClient }),
        presentedCertificate({ ...at, port: PORTS.etcdPeer }),
      ]);
      if (!client || !peer)
        return bad(say('found.peerCertificates.none', { host: name }), say('advice.recoverMember'));
      if (client.fingerprint256 === peer.fingerprint256) shared.push(name);
      const command = await look.command(name, 'etcd');
      if (flagOf(command, 'peer-client-cert-auth') !== 'true')
        return bad(
          say('found.peerCertificates.open', { host: name }),
          say('advice.setFlag', { flag: '--peer-client-cert-auth=true' }),
        );
    }
    return shared.length === 0
      ? ok(say('found.peerCertificates.ok'))
      : bad(
          say('found.peerCertificates.shared', { hosts: shared.join(', ') }),
          say('advice.peerCertificates.shared'),
        );
  },
};

const compaction: CheckItem = {
  id: 'compaction',
  async measure(look) {
    const flags = await look.apiServers();
    const every = flagOf(flags[0] ?? [], 'etcd-compaction-interval');
    const intervalMs = every === undefined ? COMPACTION_DEFAULT_MS : (parseDurationMs(every) ?? 0);
    const minutes = intervalMs / 60_000;
    const [target] = etcdTargets(look);
    const reading = target && (await look.reading(target));
    const revision = reading?.numbers.get('etcdRevision');
    const compacted = reading?.numbers.get('etcdCompactRevision');
    if (intervalMs === 0)
      return fixedBy(
        warn(say('found.compaction.off'), say('advice.setFlag', { flag: '--etcd-compaction-interval=5m' })),
        byFlags('kube-apiserver', { 'etcd-compaction-interval': '5m0s' }),
      );
    if (revision === undefined || compacted === undefined)
      return ok(say('found.compaction.unknown', { minutes }));
    const found = say('found.compaction', { compacted, revision, minutes });
    return revision - compacted > REVISIONS_KEPT_MAX
      ? fixedBy(warn(found, say('advice.compaction')), byAction({ kind: 'etcd.compact', revision: null }))
      : ok(found);
  },
};

export const ETCD_ITEMS = { members, diskLatency, quota, peerCertificates, compaction } as const;
