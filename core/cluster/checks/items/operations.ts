import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { backupsFolder, etcdFolder } from '../../data-folder/layout.ts';
import { listServedCertificates } from '../../monitor/certificates/certificates.ts';
import { metricsFolder } from '../../monitor/metrics-folder.ts';
import { bad, byAction, fixedBy, ok, plural, warn, type CheckItem, type Fix, type Judged } from '../item.ts';
import type { Look } from '../look.ts';

const DAY_MS = 86_400_000;
const RENEW_DAYS = 30;
const SAMPLE_FRESH_MS = 60_000;
/** Where snapshots are taken and scheduled. */
const SCHEDULE: Fix = { kind: 'page', path: '/snapshots' };

const rotation: CheckItem = {
  id: 'certificateRotation',
  title: 'Certificates are renewed in time, and servers have reloaded them',
  async measure(look) {
    const certificates = await listServedCertificates(look.dataDirectory, look.config);
    const nowMs = look.clock.nowMs();
    const first = certificates.reduce((so, one) => (one.notAfterMs < so.notAfterMs ? one : so));
    const days = Math.floor((first.notAfterMs - nowMs) / DAY_MS);
    const served = certificates.filter((one) => one.served !== null);
    const stale = served.filter((one) => one.served!.serial !== one.serial).map(({ name }) => name);
    const renewAll = byAction({ kind: 'certificates.renew', names: null });
    if (days < 0) return fixedBy(bad(`${first.name} has expired`, 'pilothouse certs renew all'), renewAll);
    if (stale.length > 0)
      return warn(
        `servers still present the old certificate: ${stale.join(', ')}`,
        'restart them if they do not reload it within a minute',
      );
    if (days < RENEW_DAYS)
      return fixedBy(
        warn(`${first.name} expires in ${plural(days, 'day')}`, 'pilothouse certs renew all'),
        renewAll,
      );
    return ok(
      `${plural(served.length, 'server')} present the certificate on disk; the next to expire is ${first.name}, in ${days} days`,
    );
  },
};

const isElsewhere = async (look: Look): Promise<boolean> => {
  const folder = await realpath(backupsFolder(look.dataDirectory));
  const data = await realpath(look.dataDirectory);
  if (relative(data, folder).startsWith('..')) return true;
  const host = look.etcdHosts[0]?.name;
  const [backups, etcd] = await Promise.all([
    stat(folder),
    stat(host === undefined ? data : etcdFolder(data, host)),
  ]);
  return backups.dev !== etcd.dev;
};

const judgeAge = (ageMs: number): Judged | undefined => {
  const days = Math.floor(ageMs / DAY_MS);
  return days < 1
    ? undefined
    : fixedBy(
        warn(`the latest snapshot is ${plural(days, 'day')} old`, 'schedule a snapshot at least once a day'),
        SCHEDULE,
      );
};

const backups: CheckItem = {
  id: 'backups',
  title: 'Backups are scheduled and stored off-host',
  async measure(look) {
    const folder = backupsFolder(look.dataDirectory);
    const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.db'));
    if (names.length === 0)
      return fixedBy(
        bad(`no snapshots in ${folder}`, 'enable scheduled snapshots, or run pilothouse snapshot save'),
        SCHEDULE,
      );
    const times = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mtimeMs));
    const old = judgeAge(look.clock.nowMs() - Math.max(...times));
    if (old) return old;
    const text = `${plural(names.length, 'snapshot')} in ${folder}, the latest less than a day old`;
    return (await isElsewhere(look))
      ? ok(`${text}, on a different disk than etcd`)
      : warn(
          `${text}, on the same disk as etcd`,
          `copy them to another machine, or link ${folder} to another disk`,
        );
  },
};

const monitoring: CheckItem = {
  id: 'monitoring',
  title: 'Metrics are served and recorded',
  async measure(look) {
    const answers = await Promise.all(
      look.targets.map(async (target) => ({
        name: `${target.component} on ${target.instance}`,
        isUp: await look.pages(target).then(
          () => true,
          () => false,
        ),
      })),
    );
    const down = answers.filter(({ isUp }) => !isUp).map(({ name }) => name);
    if (down.length > 0)
      return bad(
        `no metrics from ${down.slice(0, 4).join(', ')}`,
        'check whether it is running and why /metrics fails',
      );
    const folder = metricsFolder(look.dataDirectory);
    const segments = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('raw-'));
    const times = await Promise.all(segments.map(async (name) => (await stat(join(folder, name))).mtimeMs));
    const text = `${answers.length} targets serve metrics`;
    return look.clock.nowMs() - Math.max(0, ...times) < SAMPLE_FRESH_MS
      ? ok(`${text}, and the latest sample is less than a minute old`)
      : warn(
          `${text}, but they are not recorded`,
          'run the cluster in the console, or scrape it with Prometheus',
        );
  },
};

export const OPERATIONS_ITEMS = { rotation, backups, monitoring } as const;
