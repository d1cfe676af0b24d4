const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const PART = /^(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/;

/** Reads a duration as Go prints it ("1h15m30.5s", "-250ms", "0"); undefined when it is none. */
export const parseDurationMs = (text: string): number | undefined => {
  const negative = text.startsWith('-');
  let rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0;
  if (rest === '') return undefined;
  let total = 0;
  while (rest !== '') {
    const part = PART.exec(rest);
    if (!part) return undefined;
    total += Number(part[1]) * UNITS_MS[part[2] as string]!;
    rest = rest.slice(part[0].length);
  }
  return negative ? -total : total;
};

/** Prints a duration as Go does: the largest unit first, no unit that is not needed. */
export const formatDuration = (durationMs: number): string => {
  if (durationMs === 0) return '0s';
  const sign = durationMs < 0 ? '-' : '';
  const ms = Math.abs(durationMs);
  const trim = (value: number): string => String(Number(value.toFixed(9)));
  if (ms < 0.001) return `${sign}${trim(ms * 1e6)}ns`;
  if (ms < 1) return `${sign}${trim(ms * 1e3)}µs`;
  if (ms < 1000) return `${sign}${trim(ms)}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = (ms % 60_000) / 1000;
  const head = hours > 0 ? `${hours}h${minutes}m` : minutes > 0 ? `${minutes}m` : '';
  return `${sign}${head}${trim(seconds)}s`;
};
