import * as v from 'valibot';
import { clusterRef } from './kube.ts';

const TEXT_MAX = 512;
const text = v.pipe(v.string(), v.maxLength(TEXT_MAX));

export const AUDIT_EVENTS_MAX = 300;

/** Empty texts match everything. */
export const auditQuery = v.object({
  cluster: clusterRef,
  /** A part of the name. */
  user: text,
  /** Exactly; `write` is every verb that changes something. */
  verb: text,
  /** A part of `pods/web`, `secrets`, `default`, or of the path. */
  object: text,
  /** All of these where an object is meant. */
  resource: v.nullable(v.object({ group: text, resource: text, namespace: text, name: text })),
  fromMs: v.nullable(v.number()),
  toMs: v.nullable(v.number()),
  /** Responses with 400 and above only. */
  onlyDenied: v.boolean(),
  /** Without components, nodes and service accounts. */
  onlyPeople: v.boolean(),
});
export type AuditQuery = v.InferOutput<typeof auditQuery>;

export const auditEvent = v.object({
  id: v.string(),
  server: v.string(),
  atMs: v.number(),
  user: v.string(),
  groups: v.array(v.string()),
  /** Whom the user acts as; empty: itself. */
  impersonated: v.string(),
  verb: v.string(),
  group: v.string(),
  resource: v.string(),
  subresource: v.string(),
  namespace: v.string(),
  name: v.string(),
  path: v.string(),
  code: v.number(),
  message: v.string(),
  sourceIp: v.string(),
  userAgent: v.string(),
  level: v.string(),
  /** Who decided, and why. */
  annotations: v.record(v.string(), v.string()),
  /** The event as it was recorded. */
  json: v.string(),
});
export type AuditEventView = v.InferOutput<typeof auditEvent>;

export const auditAnswer = v.object({
  /** Newest first. */
  events: v.pipe(v.array(auditEvent), v.maxLength(AUDIT_EVENTS_MAX)),
  /** There may be more before this: events are read backwards, within bounds. */
  searchedFromMs: v.nullable(v.number()),
  isTruncated: v.boolean(),
  /** Files of the API servers; none: nothing is recorded. */
  files: v.array(v.string()),
});
export type AuditAnswer = v.InferOutput<typeof auditAnswer>;

export const SUBJECTS_MAX = 300;
const subject = v.object({
  kind: v.picklist(['User', 'Group', 'ServiceAccount']),
  name: v.string(),
  namespace: v.string(),
});

/** One thing that somebody might do. */
export const accessQuestion = v.object({
  cluster: clusterRef,
  verb: v.pipe(text, v.minLength(1)),
  group: text,
  resource: v.pipe(text, v.minLength(1)),
  subresource: text,
  /** Empty: in all namespaces. */
  namespace: text,
  /** Empty: any object. */
  name: text,
});
export type AccessQuestion = v.InferOutput<typeof accessQuestion>;

export const whoCanAnswer = v.object({
  /** Those that the server's authorizer allows, with its reason. */
  allowed: v.pipe(v.array(v.object({ ...subject.entries, reason: v.string() })), v.maxLength(SUBJECTS_MAX)),
  /** Subjects of bindings that were asked about. */
  asked: v.number(),
  isTruncated: v.boolean(),
});
export type WhoCanAnswer = v.InferOutput<typeof whoCanAnswer>;

/** Whether a pod may connect to another one: `namespace/pod`, a pod of `default`, or an address. */
export const reachQuestion = v.object({
  cluster: clusterRef,
  from: v.pipe(text, v.minLength(1)),
  to: v.pipe(text, v.minLength(1)),
  port: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535)),
  protocol: v.picklist(['TCP', 'UDP', 'SCTP']),
});
export type ReachQuestion = v.InferOutput<typeof reachQuestion>;

const reachSide = v.object({
  isAllowed: v.boolean(),
  /** Policies that select the pod in this direction; none: it is not isolated. */
  isolating: v.array(v.string()),
  /** The policy whose rule allows it, and the number of the rule, counted from 1. */
  allowedBy: v.nullable(v.object({ policy: v.string(), rule: v.number() })),
});

export const reachAnswer = v.object({
  isAllowed: v.boolean(),
  /** Why policies are not asked. */
  exemption: v.nullable(v.picklist(['same-pod', 'node'])),
  /** Of the pod that connects. */
  egress: reachSide,
  ingress: reachSide,
  /** Ends that are no pods with addresses of their own: no policy knows them by labels. */
  outside: v.array(v.picklist(['from', 'to'])),
});
export type ReachAnswer = v.InferOutput<typeof reachAnswer>;

export const rulesQuestion = v.object({ cluster: clusterRef, ...subject.entries, inNamespace: text });
export type RulesQuestion = v.InferOutput<typeof rulesQuestion>;

export const rulesAnswer = v.object({
  rules: v.array(
    v.object({
      verbs: v.array(v.string()),
      groups: v.array(v.string()),
      resources: v.array(v.string()),
      names: v.array(v.string()),
      /** Paths that are no resources. */
      paths: v.array(v.string()),
    }),
  ),
  /** An authorizer that cannot list its rules, such as a webhook. */
  isIncomplete: v.boolean(),
  problem: v.string(),
});
export type RulesAnswer = v.InferOutput<typeof rulesAnswer>;

export const flowControlView = v.object({
  levels: v.array(
    v.object({
      name: v.string(),
      isExempt: v.boolean(),
      /** Seats of all API servers together; null: no limit. */
      seats: v.nullable(v.number()),
      executing: v.number(),
      waiting: v.number(),
      dispatched: v.number(),
      rejected: v.number(),
      queues: v.nullable(v.number()),
      handSize: v.nullable(v.number()),
    }),
  ),
  schemas: v.array(
    v.object({
      name: v.string(),
      precedence: v.number(),
      level: v.string(),
      distinguisher: v.string(),
      subjects: v.array(v.string()),
    }),
  ),
  /** API servers that did not answer. */
  missing: v.array(v.string()),
});
export type FlowControlView = v.InferOutput<typeof flowControlView>;

export const encryptionView = v.object({
  /** Empty: values are stored as they are. */
  file: v.string(),
  resources: v.array(v.object({ resource: v.string(), provider: v.string(), prefix: v.string() })),
  keys: v.array(
    v.object({
      name: v.string(),
      provider: v.string(),
      resources: v.array(v.string()),
      isWriting: v.boolean(),
      /** Keys of this product carry the time in their name. */
      createdAtMs: v.nullable(v.number()),
    }),
  ),
  /** The file with the key that the last rotation replaced, for older snapshots; empty: none. */
  previousFile: v.string(),
  /** Why the file cannot be used; empty: it can. */
  problem: v.string(),
});
export type EncryptionView = v.InferOutput<typeof encryptionView>;
