import { isIP } from 'node:net';
import { formatMicroTime, isJsonObject, type StatusError } from '../../api/meta/index.ts';
import type { UserInfo } from '../authn/user.ts';
import { contextKey, type RequestContext } from '../server/context.ts';
import type { AuditEvent, AuditUser, ObjectReference } from './event.ts';
import { AUDIT_LEVELS, type AuditConfig, type AuditLevel, type AuditStageName } from './policy.ts';

const USER_AGENT_LENGTH_MAX = 1024;
const USER_AGENT_SUFFIX = '...TRUNCATED';
const ANNOTATIONS_MAX = 128;

const createAuditUser = ({ name, uid, groups, extra }: UserInfo): AuditUser => ({
  username: name,
  ...(uid !== undefined && uid !== '' && { uid }),
  ...(groups.length > 0 && { groups }),
  ...(extra && Object.keys(extra).length > 0 && { extra }),
});

/** A connection keeps its user for all of its requests. */
const auditUsers = new WeakMap<UserInfo, AuditUser>();
const NO_USER: AuditUser = {};

export const auditUser = (user: UserInfo | undefined): AuditUser => {
  if (!user) return NO_USER;
  let known = auditUsers.get(user);
  if (!known) auditUsers.set(user, (known = createAuditUser(user)));
  return known;
};

/** The addresses that proxies name, then the one of the connection. */
export const sourceIPs = ({ request }: RequestContext): readonly string[] => {
  const proxies = request.headers.get('x-forwarded-for') ?? '';
  const real = request.headers.get('x-real-ip') ?? '';
  const { address } = request.peer;
  if (proxies === '' && real === '') return address === '' ? [] : [address];
  const forwarded = proxies
    .split(',')
    .map((part) => part.trim())
    .filter((part) => isIP(part) !== 0);
  const ips = [...forwarded];
  if (isIP(real) !== 0 && !ips.includes(real)) ips.push(real);
  if (address !== '' && ips.at(-1) !== address) ips.push(address);
  return ips;
};

const userAgentOf = ({ request }: RequestContext): string => {
  const agent = request.headers.get('user-agent') ?? '';
  return agent.length > USER_AGENT_LENGTH_MAX
    ? agent.slice(0, USER_AGENT_LENGTH_MAX) + USER_AGENT_SUFFIX
    : agent;
};

const referenceOf = ({ info }: RequestContext): ObjectReference | undefined => {
  if (!info.isResourceRequest) return undefined;
  const { resource, namespace, name, apiGroup, apiVersion, subresource } = info;
  return { resource, namespace, name, apiGroup, apiVersion, subresource };
};

/** In upstream's order, without empty fields. */
const compact = (reference: ObjectReference): ObjectReference => {
  const { resource, namespace, name, uid, apiGroup, apiVersion, resourceVersion, subresource } = reference;
  const ordered: ObjectReference = {};
  if (resource) ordered.resource = resource;
  if (namespace) ordered.namespace = namespace;
  if (name) ordered.name = name;
  if (uid) ordered.uid = uid;
  if (apiGroup) ordered.apiGroup = apiGroup;
  if (apiVersion) ordered.apiVersion = apiVersion;
  if (resourceVersion) ordered.resourceVersion = resourceVersion;
  if (subresource) ordered.subresource = subresource;
  return ordered;
};

const withoutManagedFields = (object: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const { metadata, items } = object;
  return {
    ...object,
    ...(isJsonObject(metadata) && { metadata: { ...metadata, managedFields: undefined } }),
    ...(Array.isArray(items) && {
      items: (items as unknown[]).map((item) => (isJsonObject(item) ? withoutManagedFields(item) : item)),
    }),
  };
};

const statusOf = (code: number, failure: StatusError | undefined): Record<string, unknown> => {
  if (!failure) return { metadata: {}, code };
  const { status, message, reason, details } = failure.status as unknown as Record<string, unknown>;
  return { metadata: {}, status, message, reason, details, code };
};

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What is known of one request for its audit events. Stages and handlers add to it as they learn it. */
export class AuditRecord {
  readonly config: AuditConfig;
  readonly #context: RequestContext;
  readonly #user: UserInfo | undefined;
  readonly #reference: ObjectReference | undefined;
  #requestJson: string | undefined;

  constructor(context: RequestContext, config: AuditConfig) {
    this.#context = context;
    this.config = config;
    this.#user = context.user;
    this.#reference = referenceOf(context);
  }

  includes(level: AuditLevel): boolean {
    return AUDIT_LEVELS.indexOf(this.config.level) >= AUDIT_LEVELS.indexOf(level);
  }

  /** The object that the client sent, before admission changes it. */
  requestObject(object: Readonly<Record<string, unknown>>): void {
    const { metadata } = object;
    if (this.#reference && isJsonObject(metadata))
      for (const name of ['namespace', 'name', 'uid', 'resourceVersion'] as const) {
        const value = metadata[name];
        if (typeof value === 'string') this.#reference[name] ||= value;
      }
    if (this.includes('Request')) this.#requestJson = this.#encode(object);
  }

  /** A patch is no object: it is shown as it came, where it is JSON. */
  requestPatch(body: Uint8Array): void {
    if (!this.includes('Request')) return;
    const text = Buffer.from(body).toString('utf8');
    try {
      JSON.parse(text);
      this.#requestJson = text;
    } catch {
      this.#requestJson = JSON.stringify(text);
    }
  }

  /** The event of one stage as the request stands now. */
  event(
    stage: AuditStageName,
    nowMs: number,
    outcome: {
      readonly code?: number;
      readonly failure?: StatusError | undefined;
      readonly message?: string;
      readonly responseBody?: Uint8Array | undefined;
      readonly impersonator?: UserInfo | undefined;
    } = {},
  ): AuditEvent {
    const context = this.#context;
    const { code, failure, message, responseBody, impersonator } = outcome;
    const agent = userAgentOf(context);
    const ips = sourceIPs(context);
    const response = responseBody && this.#responseObject(responseBody);
    // Field by field, in upstream's order: an event is made for nearly every request.
    const event: Writable<Partial<AuditEvent>> = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: this.config.level,
      auditID: context.auditId,
      stage,
      requestURI: context.request.url,
      verb: context.info.verb,
      user: auditUser(this.#user),
    };
    if (impersonator) event.impersonatedUser = auditUser(context.user);
    if (ips.length > 0) event.sourceIPs = ips;
    if (agent !== '') event.userAgent = agent;
    if (this.#reference) event.objectRef = compact(this.#reference);
    if (code !== undefined) {
      event.responseStatus = statusOf(code, failure);
      if (message !== undefined) event.responseStatus = { ...event.responseStatus, message };
    }
    if (this.#requestJson !== undefined) event.requestObject = JSON.parse(this.#requestJson) as unknown;
    if (response !== undefined) event.responseObject = response;
    event.requestReceivedTimestamp = formatMicroTime(context.startedAtMs);
    event.stageTimestamp = formatMicroTime(nowMs);
    if (context.auditAnnotations.size > 0)
      event.annotations = Object.fromEntries([...context.auditAnnotations].slice(0, ANNOTATIONS_MAX));
    return event as AuditEvent;
  }

  #encode(object: Readonly<Record<string, unknown>>): string {
    return JSON.stringify(this.config.omitManagedFields ? withoutManagedFields(object) : object);
  }

  #responseObject(body: Uint8Array): unknown {
    try {
      const parsed: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
      return isJsonObject(parsed) && this.config.omitManagedFields ? withoutManagedFields(parsed) : parsed;
    } catch {
      // Logs and tables of other encodings have no form as an object.
      return undefined;
    }
  }
}

const AUDIT_RECORD = contextKey<AuditRecord>('audit-record');

export const setAuditRecord = (context: RequestContext, record: AuditRecord): void =>
  context.set(AUDIT_RECORD, record);

/** Undefined where the request is not audited. */
export const auditRecordOf = (context: RequestContext): AuditRecord | undefined => context.get(AUDIT_RECORD);
