import { quantileOf } from '../../monitor/scrape/quantile.ts';
import { presentedCertificate } from '../../monitor/certificates/presented.ts';
import { flagOf } from '../../monitor/in-flight-limits.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { parseDurationMs } from '../../../base/duration.ts';
import { bad, byAction, byFlags, fixedBy, ok, plural, warn, type CheckItem } from '../item.ts';
import type { Look } from '../look.ts';

const FSYNC_GOOD_SECONDS = 0.01;
const FSYNC_BAD_SECONDS = 0.1;
const QUOTA_SHARE_MAX = 0.8;
const MIB = 1024 * 1024;
/** Upstream compacts what is older than this, twice over before it is gone. */
const COMPACTION_DEFAULT_MS = 300_000;
const REVISIONS_KEPT_MAX = 100_000;
const SEEN_MIN = 100;

const etcdTargets = ({ targets }: Look) => targets.filter(({ component }) => component === 'etcd');

const members: CheckItem = {
  id: 'etcdMembers',
  title: 'Odd number of etcd members, at least three',
  async measure(look) {
    const all = await look.members();
    const voters = all.filter(({ isLearner }) => !isLearner);
    const silent = voters.filter(({ status }) => !status).map(({ name }) => name);
    const count = voters.length;
    const advice = 'add members until there are three or five';
    if (silent.length > 0)
      return bad(`unreachable: ${silent.join(', ')}, of ${plural(count, 'member')}`, 'recover the member');
    const addMember = byAction({ kind: 'member.add' });
    if (count < 3)
      return fixedBy(bad(`${plural(count, 'member')}: no failure is tolerated`, advice), addMember);
    if (count % 2 === 0)
      return fixedBy(warn(`${count} members tolerate no more failures than ${count - 1}`, advice), addMember);
    return ok(`${count} members healthy; failure tolerance ${(count - 1) / 2}`);
  },
};

const diskLatency: CheckItem = {
  id: 'diskLatency',
  title: 'Disks are fast enough for etcd',
  async measure(look) {
    const targets = etcdTargets(look);
    if (targets.length === 0)
      return warn('etcd is external, and its metrics are not available here', 'monitor its WAL fsync there');
    const measured = await Promise.all(
      targets.map(async (target) => {
        const buckets = (await look.reading(target)).histograms.get('etcdFsync');
        const seconds =
          buckets && (buckets.counts.at(-1) ?? 0) >= SEEN_MIN ? quantileOf(buckets, 0.99) : undefined;
        return { name: target.instance, seconds };
      }),
    );
    const known = measured.flatMap(({ name, seconds }) => (seconds === undefined ? [] : [{ name, seconds }]));
    if (known.length === 0)
      return warn('not enough fsyncs to measure', 'run the check again after some load');
    const worst = known.reduce((so, one) => (one.seconds > so.seconds ? one : so));
    const text = `99th percentile of WAL fsync on ${worst.name} is ${(worst.seconds * 1000).toFixed(1)} ms`;
    const advice = 'etcd needs 10 ms or less; use a dedicated SSD';
    if (worst.seconds > FSYNC_BAD_SECONDS) return bad(text, advice);
    return worst.seconds > FSYNC_GOOD_SECONDS ? warn(text, advice) : ok(text);
  },
};

const quota: CheckItem = {
  id: 'etcdQuota',
  title: 'etcd is below its storage quota',
  async measure(look) {
    const advice = 'compact and defragment, or raise --quota-backend-bytes';
    const alarmed = (await look.members())
      .flatMap(({ status }) => status?.errors ?? [])
      .filter((text) => text.includes('NOSPACE'));
    if (alarmed.length > 0)
      return bad('NOSPACE alarm: writes are rejected', `${advice}, then disarm the alarm`);
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
    if (shares.length === 0) return warn('the storage quota is unknown', 'set --quota-backend-bytes');
    const worst = shares.reduce((so, one) =>
      one.bytes / one.quotaBytes > so.bytes / so.quotaBytes ? one : so,
    );
    const text = `${worst.name} uses ${Math.ceil(worst.bytes / MIB)} of ${Math.round(worst.quotaBytes / MIB)} MiB`;
    return worst.bytes / worst.quotaBytes > QUOTA_SHARE_MAX
      ? fixedBy(warn(text, advice), byAction({ kind: 'etcd.defragment', member: null }))
      : ok(text);
  },
};

const peerCertificates: CheckItem = {
  id: 'peerCertificates',
  title: 'etcd peers use separate certificates',
  async measure(look) {
    if (look.etcdHosts.length === 0)
      return warn('etcd is external', 'check there that peers use separate certificates');
    const shared: string[] = [];
    for (const { name, etcd } of look.etcdHosts) {
      const at = { host: etcd!.address, serverName: etcd!.name };
      const [client, peer] = await Promise.all([
        presentedCertificate({ ...at, port: PORTS.etcdClient }),
        presentedCertificate({ ...at, port: PORTS.etcdPeer }),
      ]);
      if (!client || !peer) return bad(`the member on ${name} presents no certificate`, 'recover the member');
      if (client.fingerprint256 === peer.fingerprint256) shared.push(name);
      const command = await look.command(name, 'etcd');
      if (flagOf(command, 'peer-client-cert-auth') !== 'true')
        return bad(
          `the member on ${name} accepts peers without a certificate`,
          'set --peer-client-cert-auth=true',
        );
    }
    return shared.length === 0
      ? ok('every member uses separate client and peer certificates and requires peer certificates')
      : bad(`same certificate for clients and peers on ${shared.join(', ')}`, 'issue peer certificates');
  },
};

const compaction: CheckItem = {
  id: 'compaction',
  title: 'etcd history is compacted',
  async measure(look) {
    const flags = await look.apiServers();
    const every = flagOf(flags[0] ?? [], 'etcd-compaction-interval');
    const intervalMs = every === undefined ? COMPACTION_DEFAULT_MS : (parseDurationMs(every) ?? 0);
    const [target] = etcdTargets(look);
    const reading = target && (await look.reading(target));
    const revision = reading?.numbers.get('etcdRevision');
    const compacted = reading?.numbers.get('etcdCompactRevision');
    if (intervalMs === 0)
      return fixedBy(
        warn('automatic compaction is disabled', 'set --etcd-compaction-interval=5m'),
        byFlags('kube-apiserver', { 'etcd-compaction-interval': '5m0s' }),
      );
    if (revision === undefined || compacted === undefined)
      return ok(`API servers compact every ${intervalMs / 60_000} min; the compacted revision is unknown`);
    const text = `compacted to revision ${compacted} of ${revision}; API servers compact every ${intervalMs / 60_000} min`;
    return revision - compacted > REVISIONS_KEPT_MAX
      ? fixedBy(
          warn(text, 'find out why compaction does not keep up'),
          byAction({ kind: 'etcd.compact', revision: null }),
        )
      : ok(text);
  },
};

export const ETCD_ITEMS = { members, diskLatency, quota, peerCertificates, compaction } as const;
