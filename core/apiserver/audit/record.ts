import { isIP } from 'node:net';
import {
  formatMicroTime,
  isJsonObject,
  jsonText,
  parseJsonText,
  type StatusError,
} from '../../api/meta/index.ts';
import type { UserInfo } from '../server/user.ts';
import { contextKey, type RequestContext } from '../server/context.ts';
import { EncodedEvent, type AuditUser, type ObjectReference } from './event.ts';
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
const userTexts = new WeakMap<UserInfo, string>();

const userText = (user: UserInfo | undefined): string => {
  if (!user) return '{}';
  let known = userTexts.get(user);
  if (known === undefined) userTexts.set(user, (known = JSON.stringify(createAuditUser(user))));
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

const REFERENCE_FIELDS = [
  'resource',
  'namespace',
  'name',
  'uid',
  'apiGroup',
  'apiVersion',
  'resourceVersion',
  'subresource',
] as const;

/** In upstream's order, without empty fields. */
const referenceText = (reference: ObjectReference): string => {
  let text = '';
  for (const field of REFERENCE_FIELDS) {
    const value = reference[field];
    if (value) text += `${text === '' ? '' : ','}"${field}":${JSON.stringify(value)}`;
  }
  return `{${text}}`;
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

const statusText = (code: number, failure: StatusError | undefined, message: string | undefined): string => {
  if (!failure && message === undefined) return `{"metadata":{},"code":${code}}`;
  const { status, reason, details, ...rest } = (failure?.status ?? {}) as unknown as Record<string, unknown>;
  return JSON.stringify({
    metadata: {},
    status,
    message: message ?? rest['message'],
    reason,
    details,
    code,
  });
};

const annotationsText = (annotations: ReadonlyMap<string, string>): string => {
  let text = '';
  let count = 0;
  for (const [key, value] of annotations) {
    if (count === ANNOTATIONS_MAX) break;
    text += `${count === 0 ? '' : ','}${JSON.stringify(key)}:${JSON.stringify(value)}`;
    count += 1;
  }
  return `{${text}}`;
};

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
      // Encoded again: an event is one line.
      this.#requestJson = jsonText(parseJsonText(text));
    } catch {
      this.#requestJson = JSON.stringify(text);
    }
  }

  /**
   * The event of one stage as the request stands now. Written field by field, in upstream's order, without an object in
   * between: one is made for nearly every request.
   */
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
  ): EncodedEvent {
    const context = this.#context;
    const { code, failure, message, responseBody, impersonator } = outcome;
    const agent = userAgentOf(context);
    const ips = sourceIPs(context);
    const response = responseBody && this.#responseText(responseBody);
    let text = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${this.config.level}","auditID":${JSON.stringify(context.auditId)},"stage":"${stage}","requestURI":${JSON.stringify(context.request.url)},"verb":${JSON.stringify(context.info.verb)},"user":${userText(this.#user)}`;
    if (impersonator) text += `,"impersonatedUser":${userText(context.user)}`;
    if (ips.length > 0) text += `,"sourceIPs":${JSON.stringify(ips)}`;
    if (agent !== '') text += `,"userAgent":${JSON.stringify(agent)}`;
    if (this.#reference) text += `,"objectRef":${referenceText(this.#reference)}`;
    if (code !== undefined) text += `,"responseStatus":${statusText(code, failure, message)}`;
    if (this.#requestJson !== undefined) text += `,"requestObject":${this.#requestJson}`;
    if (response !== undefined) text += `,"responseObject":${response}`;
    text += `,"requestReceivedTimestamp":"${formatMicroTime(context.startedAtMs)}","stageTimestamp":"${formatMicroTime(nowMs)}"`;
    if (context.auditAnnotations.size > 0)
      text += `,"annotations":${annotationsText(context.auditAnnotations)}`;
    return new EncodedEvent(`${text}}`);
  }

  #encode(object: Readonly<Record<string, unknown>>): string {
    return jsonText(this.config.omitManagedFields ? withoutManagedFields(object) : object);
  }

  #responseText(body: Uint8Array): string | undefined {
    try {
      const parsed: unknown = parseJsonText(Buffer.from(body).toString('utf8'));
      return jsonText(
        isJsonObject(parsed) && this.config.omitManagedFields ? withoutManagedFields(parsed) : parsed,
      );
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
