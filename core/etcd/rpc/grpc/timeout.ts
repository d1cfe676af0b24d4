const UNIT_MS: Record<string, number> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };
/** Timers this far apart share one list in the runtime; the client keeps its own, exact deadline. */
const GRANULARITY_MS = 32;
/** Node's timers end here; no call waits 24 days for anything but its own stream. */
const TIMEOUT_MS_MAX = 0x7fffffe0;

/** The value of grpc-timeout in milliseconds, rounded up; undefined when it is malformed. */
export const parseTimeoutMs = (value: string): number | undefined => {
  const match = /^(\d{1,8})([HMSmun])$/.exec(value);
  if (match === null) return undefined;
  const ms = Number(match[1]) * UNIT_MS[match[2]!]!;
  return Math.min(Math.ceil(ms / GRANULARITY_MS) * GRANULARITY_MS, TIMEOUT_MS_MAX);
};
