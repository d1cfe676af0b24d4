/** The pause before the first restart; it doubles with each further exit. */
export const RESTART_PAUSE_FIRST_MS = 1_000;
export const RESTART_PAUSE_MAX_MS = 60_000;
/** Restarts in a row; a host that exits once more stays down. */
export const RESTARTS_IN_A_ROW_MAX = 5;
/** A host that has run this long has recovered, and its earlier exits count no more. */
export const RECOVERED_AFTER_MS = 600_000;

export type RestartVerdict =
  | { readonly kind: 'restart'; readonly delayMs: number; readonly attempt: number }
  | { readonly kind: 'stay-down'; readonly exits: number };

/** `exitsInARow` counts unexpected exits, this one included. */
export const verdictOn = (exitsInARow: number): RestartVerdict =>
  exitsInARow > RESTARTS_IN_A_ROW_MAX
    ? { kind: 'stay-down', exits: exitsInARow }
    : {
        kind: 'restart',
        delayMs: Math.min(RESTART_PAUSE_FIRST_MS * 2 ** (exitsInARow - 1), RESTART_PAUSE_MAX_MS),
        attempt: exitsInARow,
      };

export const exitsInARow = (before: number, ranMs: number): number =>
  ranMs >= RECOVERED_AFTER_MS ? 1 : before + 1;
