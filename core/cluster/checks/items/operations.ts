import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { snapshotPaths } from '../../backup/list-backups.ts';
import { readBackupSchedule, scheduledFolder } from '../../backup/schedule.ts';
import { etcdFolder } from '../../data-folder/layout.ts';
import { listServedCertificates } from '../../monitor/certificates/certificates.ts';
import { metricsFolder } from '../../monitor/metrics-folder.ts';
import { say, verbatim } from '../../../contract/index.ts';
import { bad, byAction, fixedBy, ok, someOf, warn, type CheckItem, type Fix, type Judged } from '../item.ts';
import type { Look } from '../look.ts';

const DAY_MS = 86_400_000;
const RENEW_DAYS = 30;
const SAMPLE_FRESH_MS = 60_000;
/** Where snapshots are taken and scheduled. */
const RENEW_ALL = verbatim('pilothouse certs renew all');
const SCHEDULE: Fix = { kind: 'page', path: '/snapshots' };
const HARDEN: Fix = { kind: 'page', path: '/harden' };

const rotation: CheckItem = {
  id: 'certificateRotation',
  async measure(look) {
    const certificates = await listServedCertificates(look.dataDirectory, look.config);
    const nowMs = look.clock.nowMs();
    const first = certificates.reduce((so, one) => (one.notAfterMs < so.notAfterMs ? one : so));
    const days = Math.floor((first.notAfterMs - nowMs) / DAY_MS);
    const served = certificates.filter((one) => one.served !== null);
    const stale = served.filter((one) => one.served!.serial !== one.serial).map(({ name }) => name);
    const renewAll = byAction({ kind: 'certificates.renew', names: null });
    if (days < 0)
      return fixedBy(
        bad(say('found.certificateRotation.expired', { name: first.name }), RENEW_ALL),
        renewAll,
      );
    if (stale.length > 0)
      return warn(
        say('found.certificateRotation.stale', { names: stale.join(', ') }),
        say('advice.certificateRotation.stale'),
      );
    if (days < RENEW_DAYS)
      return fixedBy(
        warn(say('found.certificateRotation.soon', { name: first.name, count: days }), RENEW_ALL),
        renewAll,
      );
    return ok(say('found.certificateRotation.ok', { count: served.length, name: first.name, days }));
  },
};

/** Whether files of the folder survive the loss of the data directory and of its disk. */
const isElsewhere = async (look: Look, path: string): Promise<boolean> => {
  const folder = await realpath(path);
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
    : fixedBy(warn(say('found.backups.old', { count: days }), say('advice.backups.old')), SCHEDULE);
};

const backups: CheckItem = {
  id: 'backups',
  async measure(look) {
    const schedule = await readBackupSchedule(look.dataDirectory);
    const paths = await snapshotPaths(look.dataDirectory);
    if (paths.length === 0) {
      const none = say('found.backups.none', { folder: scheduledFolder(look.dataDirectory, schedule) });
      return fixedBy(bad(none, say('advice.backups.none')), SCHEDULE);
    }
    const times = await Promise.all(paths.map(async (path) => (await stat(path)).mtimeMs));
    const old = judgeAge(look.clock.nowMs() - Math.max(...times));
    if (old) return old;
    const folder = dirname(paths[times.indexOf(Math.max(...times))]!);
    const values = { count: paths.length, folder };
    if (!schedule.enabled)
      return fixedBy(warn(say('found.backups.unscheduled', values), say('advice.backups.elsewhere')), HARDEN);
    return (await isElsewhere(look, folder))
      ? ok(say('found.backups.elsewhere', values))
      : fixedBy(warn(say('found.backups.sameDisk', values), say('advice.backups.elsewhere')), HARDEN);
  },
};

const monitoring: CheckItem = {
  id: 'monitoring',
  async measure(look) {
    const answers = await Promise.all(
      look.targets.map(async (target) => ({
        name: `${target.component}/${target.instance}`,
        isUp: await look.pages(target).then(
          () => true,
          () => false,
        ),
      })),
    );
    const down = answers.filter(({ isUp }) => !isUp).map(({ name }) => name);
    if (down.length > 0)
      return bad(say('found.monitoring.down', { targets: someOf(down) }), say('advice.monitoring.down'));
    const folder = metricsFolder(look.dataDirectory);
    const segments = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('raw-'));
    const times = await Promise.all(segments.map(async (name) => (await stat(join(folder, name))).mtimeMs));
    const count = answers.length;
    return look.clock.nowMs() - Math.max(0, ...times) < SAMPLE_FRESH_MS
      ? ok(say('found.monitoring.ok', { count }))
      : warn(say('found.monitoring.unrecorded', { count }), say('advice.monitoring.unrecorded'));
  },
};

export const OPERATIONS_ITEMS = { rotation, backups, monitoring } as const;
