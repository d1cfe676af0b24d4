export type AuditMode = 'batch' | 'blocking' | 'blocking-strict';

/** How events get to one backend. */
export interface AuditDelivery {
  readonly mode: AuditMode;
  readonly bufferSize: number;
  readonly batchSizeMax: number;
  readonly batchWaitMs: number;
  readonly isThrottled: boolean;
  readonly throttleQps: number;
  readonly throttleBurst: number;
  readonly isTruncated: boolean;
  readonly truncateBatchBytes: number;
  readonly truncateEventBytes: number;
}

export interface AuditSettings {
  readonly policyFile: string;
  /** `path` empty: no log. */
  readonly logFile: {
    readonly path: string;
    readonly ageDaysMax: number;
    readonly backupsMax: number;
    readonly sizeMibMax: number;
    readonly isCompressed: boolean;
    readonly delivery: AuditDelivery;
  };
  /** `configFile` empty: no webhook. */
  readonly auditWebhook: {
    readonly configFile: string;
    readonly initialBackOffMs: number;
    readonly delivery: AuditDelivery;
  };
}
