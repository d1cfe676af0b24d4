import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { isJsonObject } from '../../api/meta/object-meta.ts';
import {
  AUDIT_EVENTS_MAX,
  type AuditAnswer,
  type AuditEventView,
  type AuditQuery,
} from '../../contract/index.ts';
import type { ClusterConfig } from '../config/config.ts';
import { planHosts } from '../config/hosts.ts';
import { fileFlagOf } from '../data-folder/configured-file.ts';
import { commandOf } from '../data-folder/in-flight-limits.ts';
import { backwardLines } from './backward-lines.ts';

/** Of one search; a narrower time or a rotated-away file is found by the next one. */
const BYTES_MAX = 128 * 1024 * 1024;
const JSON_CHARACTERS_MAX = 64 * 1024;
const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection'];

export interface AuditLog {
  readonly server: string;
  readonly path: string;
}

/** The logs that the manifests of the API servers name. */
export const auditLogsOf = async (data: string, config: ClusterConfig): Promise<readonly AuditLog[]> => {
  const found: AuditLog[] = [];
  for (const { name, role } of planHosts(config)) {
    if (role !== 'control-plane') continue;
    const path = fileFlagOf(data, await commandOf(data, name, 'kube-apiserver'), 'audit-log-path');
    if (path !== undefined && path !== '-') found.push({ server: name, path });
  }
  return found;
};

/** The file that is written, then rotated ones from the newest. Their names carry the time. */
const filesOf = async (path: string): Promise<readonly string[]> => {
  const suffix = extname(path);
  const prefix = `${basename(path, suffix)}-`;
  const names = await readdir(dirname(path)).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const rotated = names.filter(
    (name) => name.startsWith(prefix) && name.replace(/\.gz$/, '').endsWith(suffix),
  );
  return [
    ...(names.includes(basename(path)) ? [path] : []),
    ...rotated
      .sort()
      .reverse()
      .map((name) => join(dirname(path), name)),
  ];
};

type Json = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Json => (isJsonObject(value) ? value : {});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Undefined for a line that is no event, such as one that a crash has cut off. */
export const eventOf = (line: string, server: string): AuditEventView | undefined => {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isJsonObject(event) || event['kind'] !== 'Event') return undefined;
  const [user, acting, object, status] = ['user', 'impersonatedUser', 'objectRef', 'responseStatus'].map(
    (name) => fieldsOf(event[name]),
  ) as [Json, Json, Json, Json];
  const { groups } = user;
  const ips = event['sourceIPs'];
  return {
    id: `${text(event['auditID'])}/${text(event['stage'])}`,
    server,
    atMs: Date.parse(text(event['stageTimestamp'])) || 0,
    user: text(user['username']),
    groups: Array.isArray(groups) ? groups.map(String) : [],
    impersonated: text(acting['username']),
    verb: text(event['verb']),
    group: text(object['apiGroup']),
    resource: text(object['resource']),
    subresource: text(object['subresource']),
    namespace: text(object['namespace']),
    name: text(object['name']),
    path: text(event['requestURI']),
    code: Number(status['code'] ?? 0),
    message: text(status['message']),
    sourceIp: Array.isArray(ips) ? String(ips[0] ?? '') : '',
    userAgent: text(event['userAgent']),
    level: text(event['level']),
    annotations: Object.fromEntries(
      Object.entries(fieldsOf(event['annotations'])).map(([name, value]) => [name, String(value)]),
    ),
    json: line.length > JSON_CHARACTERS_MAX ? '' : line,
  };
};

const includes = (where: string, part: string): boolean => where.toLowerCase().includes(part.toLowerCase());

/** Reviews are created to ask a question: they change nothing. */
const isWrite = ({ verb, resource }: AuditEventView): boolean =>
  WRITES.includes(verb) && !/(accessreviews|rulesreviews|tokenreviews|selfsubjectreviews)$/.test(resource);

const COMPONENT_GROUPS = ['system:nodes', 'system:serviceaccounts', 'pilothouse:console'];

/** Requests without a known user count: an attempt is a person's until shown otherwise. */
const isOfPerson = ({ user, groups }: AuditEventView): boolean =>
  (!user.startsWith('system:') || user === 'system:anonymous') &&
  !groups.some((group) => COMPONENT_GROUPS.includes(group));

export type AuditFilter = Omit<AuditQuery, 'cluster'>;

export const matches = (event: AuditEventView, query: AuditFilter): boolean => {
  const { resource } = query;
  if (query.fromMs !== null && event.atMs < query.fromMs) return false;
  if (query.toMs !== null && event.atMs > query.toMs) return false;
  if (query.onlyDenied && event.code < 400) return false;
  if (query.onlyPeople && !isOfPerson(event)) return false;
  if (query.verb === 'write' ? !isWrite(event) : query.verb !== '' && event.verb !== query.verb) return false;
  if (query.user !== '' && !includes(event.user, query.user) && !includes(event.impersonated, query.user))
    return false;
  if (
    resource &&
    (event.group !== resource.group ||
      event.resource !== resource.resource ||
      event.namespace !== resource.namespace ||
      // The name of a created object may be in the body alone.
      (event.name !== resource.name && !(event.name === '' && event.verb === 'deletecollection')))
  )
    return false;
  const object = [event.namespace, event.resource, event.name, event.subresource].filter(Boolean).join('/');
  return query.object === '' || includes(object, query.object) || includes(event.path, query.object);
};

interface Cursor {
  readonly server: string;
  readonly lines: AsyncGenerator<string, void, void>;
  next: AuditEventView | undefined;
}

const advance = async (cursor: Cursor): Promise<void> => {
  cursor.next = undefined;
  for (;;) {
    const { value, done } = await cursor.lines.next();
    if (done === true) return;
    const event = eventOf(value, cursor.server);
    if (!event) continue;
    cursor.next = event;
    return;
  }
};

async function* linesOfAll(
  files: readonly string[],
  onBytes: (count: number) => void,
): AsyncGenerator<string, void, void> {
  for (const file of files)
    try {
      yield* backwardLines(file, onBytes);
    } catch (error) {
      // Rotation renames and compresses files while they are read.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
}

/** Events of all API servers that match, newest first. */
export const readAuditEvents = async (
  logs: readonly AuditLog[],
  query: AuditFilter,
): Promise<AuditAnswer> => {
  let bytes = 0;
  const cursors: Cursor[] = [];
  for (const { server, path } of logs)
    cursors.push({
      server,
      lines: linesOfAll(await filesOf(path), (count) => (bytes += count)),
      next: undefined,
    });
  await Promise.all(cursors.map(advance));
  const events: AuditEventView[] = [];
  let searchedFromMs: number | null = null;
  let isTruncated = false;
  try {
    for (;;) {
      const newest = cursors.reduce<Cursor | undefined>(
        (so, one) => (one.next && (!so?.next || one.next.atMs > so.next.atMs) ? one : so),
        undefined,
      );
      const event = newest?.next;
      if (!newest || !event) break;
      if (query.fromMs !== null && event.atMs < query.fromMs) break;
      searchedFromMs = event.atMs;
      if (matches(event, query)) events.push(event);
      isTruncated = events.length >= AUDIT_EVENTS_MAX || bytes > BYTES_MAX;
      if (isTruncated) break;
      await advance(newest);
    }
  } finally {
    await Promise.all(cursors.map(({ lines }) => lines.return()));
  }
  return { events, searchedFromMs, isTruncated, files: logs.map(({ path }) => path) };
};
