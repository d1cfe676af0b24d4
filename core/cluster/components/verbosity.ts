import type { LogLevel } from '../../base/log.ts';

const DEBUG_VERBOSITY = 4;

/** Upstream's `-v`: 4 and more is everything, 0 only what went wrong. */
export const levelOf = (verbosity: number): LogLevel =>
  verbosity >= DEBUG_VERBOSITY ? 'debug' : verbosity > 0 ? 'info' : 'warn';
