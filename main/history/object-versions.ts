import { authorOf, type KubernetesObject } from '../../core/api/meta/index.ts';
import { auditLogsOf, readAuditEvents } from '../../core/cluster/audit-trail/read-events.ts';
import { listSnapshots } from '../../core/cluster/backup/list-backups.ts';
import type { EtcdConnection } from '../../core/cluster/etcd-operator/connection.ts';
import {
  etcdSource,
  placeOf,
  revisionsOf,
  timeOfRevision,
  versionsInSnapshot,
  walkVersions,
  type Decoder,
} from '../../core/cluster/history/index.ts';
import type { AuditEventView, HistoryVersion, HistoryVersions } from '../../core/contract/index.ts';
import type { LocalCluster } from '../clusters/local-clusters.ts';
import type { SnapshotShelf } from './snapshot-shelf.ts';

/** Each is read once; older ones are opened by hand. */
const SNAPSHOTS_MAX = 10;
/** managedFields tell whole seconds, and the audit log when the response was sent: an event comes after the write. */
const BEFORE_WRITE_MS = 100;
const AFTER_WRITE_MS = 2_500;
const HTTP_OK_END = 300;

const auditOf = async (cluster: LocalCluster, key: string) => {
  const place = placeOf(key);
  const logs = await auditLogsOf(cluster.directory, cluster.config);
  if (!place || logs.length === 0) return undefined;
  return readAuditEvents(logs, {
    user: '',
    verb: 'write',
    object: '',
    resource: { group: place.group, resource: place.plural, namespace: place.namespace, name: place.name },
    fromMs: null,
    toMs: null,
    onlyDenied: false,
    onlyPeople: false,
  });
};

interface Written {
  readonly atMs: number | undefined;
  readonly isDeleted: boolean;
  /** As managedFields tell it: `status`, or nothing for the object itself. */
  readonly subresource: string;
  /** As managedFields name it; empty where there are none. */
  readonly manager: string;
  /** No version before it is known: it may be the first. */
  readonly mayBeFirst: boolean;
}

/** The manager that the API server records for a request: the one it names, or the first word of its client. */
const managerOf = ({ path, userAgent }: AuditEventView): string =>
  new URLSearchParams(path.slice(path.indexOf('?') + 1)).get('fieldManager') ?? userAgent.split('/')[0] ?? '';

/**
 * The request that wrote a version: the newest successful one of the same manager to the same subresource at its time
 * that no newer version has taken. Deletions carry no time of their own. Most writes of components are not recorded, so that there may be none.
 */
export const takeRequest = (events: AuditEventView[], written: Written): AuditEventView | undefined => {
  const { atMs, isDeleted, subresource, manager, mayBeFirst } = written;
  const isAtItsTime = (event: AuditEventView): boolean =>
    atMs === undefined
      ? isDeleted
      : event.atMs >= atMs - BEFORE_WRITE_MS && event.atMs <= atMs + AFTER_WRITE_MS;
  const [found] = events
    .filter(
      (event) =>
        event.code < HTTP_OK_END &&
        event.verb.startsWith('delete') === isDeleted &&
        (isDeleted || (event.subresource === subresource && ['', managerOf(event)].includes(manager))) &&
        (event.verb !== 'create' || mayBeFirst) &&
        isAtItsTime(event),
    )
    .sort((a, b) => b.atMs - a.atMs);
  if (found) events.splice(events.indexOf(found), 1);
  return found;
};

interface Found {
  readonly at: HistoryVersion['at'];
  readonly revision: number;
  readonly isDeleted: boolean;
}

/** Every known version of an object: in etcd, then in older snapshots. */
export const objectVersions = async (
  {
    cluster,
    member,
    decoder,
    shelf,
  }: {
    readonly cluster: LocalCluster;
    readonly member: EtcdConnection;
    readonly decoder: Decoder;
    readonly shelf: SnapshotShelf;
  },
  key: string,
): Promise<HistoryVersions> => {
  const range = await revisionsOf(member);
  const readAt = async (revision: number) => (await etcdSource(member, revision)).read(key);
  const { versions: live, isCut } = await walkVersions(readAt, range);
  const found: Found[] = live.map(({ revision, isDeleted }) => ({
    at: { kind: 'revision', revision },
    revision,
    isDeleted,
  }));
  const seen = new Set(live.map(({ revision }) => revision));
  const files = (await listSnapshots(cluster.directory)).filter(({ problem }) => problem === null);
  for (const { file } of files.slice(0, SNAPSHOTS_MAX))
    for (const { revision, isDeleted } of await versionsInSnapshot(file, key)) {
      if (seen.has(revision)) continue;
      seen.add(revision);
      found.push({ at: { kind: 'snapshot', file, revision }, revision, isDeleted });
    }
  found.sort((a, b) => b.revision - a.revision);

  const objectAt = async ({ at, isDeleted, revision }: Found): Promise<KubernetesObject | undefined> => {
    if (isDeleted) return undefined;
    // What etcd still has of an older version is at its own revision; a compacted one is still the present version.
    const stored =
      at.kind === 'snapshot'
        ? await shelf.use(at.file, at.revision, (source) => source.read(key))
        : await readAt(Math.max(revision, range.oldest));
    return stored && (await decoder.decode(stored)).object;
  };
  const audit = await auditOf(cluster, key);
  const events = [...(audit?.events ?? [])];
  const versions: HistoryVersion[] = [];
  let newer: { readonly entry: Found; readonly object: KubernetesObject | undefined } | undefined;
  const tell = async (
    entry: Found,
    object: KubernetesObject | undefined,
    before: KubernetesObject | undefined,
  ) => {
    const author = object && authorOf(object, before);
    const leaseMs =
      entry.at.kind === 'revision' && author?.atMs === undefined
        ? await timeOfRevision(member, Math.max(entry.revision, range.oldest), decoder)
        : undefined;
    const request = takeRequest(events, {
      atMs: author?.atMs ?? leaseMs,
      isDeleted: entry.isDeleted,
      subresource: author?.subresource ?? '',
      manager: author?.manager ?? '',
      mayBeFirst: before === undefined,
    });
    const atMs = request?.atMs ?? author?.atMs ?? leaseMs ?? null;
    versions.push({
      ...entry,
      at:
        entry.at.kind === 'revision'
          ? { kind: 'revision', revision: Math.max(entry.revision, range.oldest) }
          : entry.at,
      atMs,
      timeFrom: request ? 'audit' : author?.atMs ? 'managedFields' : leaseMs ? 'leases' : 'none',
      manager: author?.manager ?? '',
      operation: author ? [author.operation, author.subresource].filter(Boolean).join(' ') : '',
      user: request ? request.impersonated || request.user : '',
      verb: request?.verb ?? (entry.isDeleted ? 'delete' : ''),
      auditId: request?.id.split('/')[0] ?? '',
    });
  };
  for (const entry of found) {
    const object = await objectAt(entry);
    if (newer) await tell(newer.entry, newer.object, object);
    newer = { entry, object };
  }
  if (newer) await tell(newer.entry, newer.object, undefined);
  return {
    versions,
    isCut,
    oldestRevision: range.oldest,
    auditFromMs: audit?.searchedFromMs ?? null,
    hasAudit: audit !== undefined,
  };
};
