/** Upstream's codes, as they appear in metric labels. Success has no status object: it is `undefined`. */
export type StatusCode =
  'Success' | 'Error' | 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Wait' | 'Skip' | 'Pending';

/** Why a plugin did not let something pass. Immutable, so that plugins share one for a thousand nodes. */
export interface Status {
  readonly code: Exclude<StatusCode, 'Success'>;
  readonly reasons: readonly string[];
  readonly plugin: string;
  readonly cause?: unknown;
}

export const unschedulable = (plugin: string, ...reasons: readonly string[]): Status => ({
  code: 'Unschedulable',
  reasons,
  plugin,
});

/** Preempting pods on the node would not help. */
export const unresolvable = (plugin: string, ...reasons: readonly string[]): Status => ({
  code: 'UnschedulableAndUnresolvable',
  reasons,
  plugin,
});

export const failed = (plugin: string, message: string, cause?: unknown): Status => ({
  code: 'Error',
  reasons: [message],
  plugin,
  ...(cause !== undefined && { cause }),
});

export const skip = (plugin: string): Status => ({ code: 'Skip', reasons: [], plugin });

export const statusCode = (status: Status | undefined): StatusCode => status?.code ?? 'Success';

export const statusMessage = (status: Status | undefined): string => status?.reasons.join(', ') ?? '';

/** The pod was looked at and refused, as opposed to a failure of the plugin. */
export const isRejected = (status: Status | undefined): status is Status =>
  status !== undefined &&
  (status.code === 'Unschedulable' ||
    status.code === 'UnschedulableAndUnresolvable' ||
    status.code === 'Pending');
