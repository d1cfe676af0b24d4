import type { StatusError } from '../../api/meta/index.ts';
import type { UserInfo } from './user.ts';
import type { ApiRequest } from './request.ts';
import { isLongRunning, type RequestInfo } from './request-info.ts';
import type { ApiResponse } from './response.ts';
import { ADMISSION_RECORDS_MAX, type AdmissionRecord, type StageRecord } from './trace.ts';
import { WarningRecorder } from './warnings.ts';

/** Names a value that one stage leaves for later ones, with its type. */
export interface ContextKey<T> {
  readonly name: string;
  /** Never set: carries the type. */
  readonly type?: T;
}

export const contextKey = <T>(name: string): ContextKey<T> => ({ name });

export interface RequestContextParts {
  readonly request: ApiRequest;
  readonly response: ApiResponse;
  readonly info: RequestInfo;
  readonly auditId: string;
  readonly startedAtMs: number;
}

/** Everything about one request in flight. Stages get it in turn; it ends with the request. */
export class RequestContext implements RequestContextParts {
  readonly request: ApiRequest;
  readonly response: ApiResponse;
  readonly info: RequestInfo;
  readonly auditId: string;
  readonly startedAtMs: number;
  readonly isLongRunning: boolean;
  readonly warnings = new WarningRecorder();
  readonly stages: StageRecord[] = [];
  readonly admission: AdmissionRecord[] = [];
  /** Annotations of the audit event, by key. */
  readonly auditAnnotations = new Map<string, string>();
  /** Set by authentication; replaced by impersonation. */
  user: UserInfo | undefined;
  /** The Status that the request was answered with, where it failed. */
  failure: StatusError | undefined;
  readonly #values = new Map<ContextKey<unknown>, unknown>();
  #cleanup: (() => void)[] | undefined = [];

  constructor(parts: RequestContextParts) {
    this.request = parts.request;
    this.response = parts.response;
    this.info = parts.info;
    this.auditId = parts.auditId;
    this.startedAtMs = parts.startedAtMs;
    this.isLongRunning = isLongRunning(parts.info);
  }

  get<T>(key: ContextKey<T>): T | undefined {
    return this.#values.get(key) as T | undefined;
  }

  set<T>(key: ContextKey<T>, value: T): void {
    this.#values.set(key, value);
  }

  /** The first value of a key stays, as upstream has it. */
  annotate(key: string, value: string): void {
    if (!this.auditAnnotations.has(key)) this.auditAnnotations.set(key, value);
  }

  recordAdmission(record: AdmissionRecord): void {
    if (this.admission.length < ADMISSION_RECORDS_MAX) this.admission.push(record);
  }

  /** Runs when the request is over, however it ended; the last added first. */
  defer(run: () => void): void {
    if (this.#cleanup) this.#cleanup.push(run);
    else run();
  }

  finish(): void {
    const cleanup = this.#cleanup ?? [];
    this.#cleanup = undefined;
    const errors: unknown[] = [];
    for (let at = cleanup.length - 1; at >= 0; at -= 1) {
      try {
        cleanup[at]!();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'some resources failed to close');
  }
}
