import type { AuditLevel, AuditStageName } from './policy.ts';

export interface AuditUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ObjectReference {
  resource?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiGroup?: string;
  apiVersion?: string;
  resourceVersion?: string;
  subresource?: string;
}

/** audit.k8s.io/v1 Event; fields in the order in which upstream writes them. */
export interface AuditEvent {
  readonly kind: 'Event';
  readonly apiVersion: 'audit.k8s.io/v1';
  readonly level: AuditLevel;
  readonly auditID: string;
  readonly stage: AuditStageName;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: AuditUser;
  readonly impersonatedUser?: AuditUser;
  readonly sourceIPs?: readonly string[];
  readonly userAgent?: string;
  readonly objectRef?: ObjectReference;
  readonly responseStatus?: Readonly<Record<string, unknown>>;
  readonly requestObject?: unknown;
  readonly responseObject?: unknown;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Encoded once for all backends, when it is made: many wait for their batch, and text costs least to keep. */
export class EncodedEvent {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  get event(): AuditEvent {
    return JSON.parse(this.json) as AuditEvent;
  }
}

/** Takes events in order. `false`, or a rejection, says that some could not be stored. */
export interface AuditBackend {
  process(events: readonly EncodedEvent[]): boolean | Promise<boolean>;
  /** Resolves when everything that was taken is stored or given up. */
  close(): Promise<void>;
}

/** Upstream's truncate plugin: too large an event loses its objects, and is dropped where that does not help. */
export const truncated = (one: EncodedEvent, bytesMax: number): EncodedEvent | undefined => {
  if (Buffer.byteLength(one.json) <= bytesMax) return one;
  const { requestObject: _request, responseObject: _response, ...rest } = one.event;
  const smaller = new EncodedEvent(
    JSON.stringify({ ...rest, annotations: { ...rest.annotations, 'audit.k8s.io/truncated': 'true' } }),
  );
  return Buffer.byteLength(smaller.json) <= bytesMax ? smaller : undefined;
};
