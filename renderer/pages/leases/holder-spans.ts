import type { LeaseView } from '../../../core/contract/index.ts';
import { shortHolder } from './lease-state.ts';

export interface HolderSpan {
  readonly lease: string;
  /** Empty: no one held it. */
  readonly holder: string;
  readonly fromMs: number;
  /** Null while it lasts. */
  readonly toMs: number | null;
  /** Anyone who held it before, also before a time without holder. */
  readonly before: string;
}

/** Shorter times without a holder are the way of an orderly hand-over. */
const GAP_MIN_MS = 1_000;
/** Colours that can be told apart in one graphic; further holders share one. */
const HOLDER_COLOURS = 6;
export const OTHER_COLOUR = 8;

/** Who held a lease from when to when, and when no one did: also since it ran out and no one took it. */
export const holderSpans = (
  { name, segments, renewedAtMs, durationSeconds }: LeaseView,
  serverNowMs: number,
): readonly HolderSpan[] => {
  const spans: HolderSpan[] = [];
  const push = (holder: string, fromMs: number, toMs: number | null): void => {
    const last = spans.at(-1);
    const before = last ? last.holder || last.before : '';
    // A restarted holder has another random part, but it is the same host to who looks.
    if (last?.holder === holder && last.toMs !== null && fromMs - last.toMs < GAP_MIN_MS)
      spans[spans.length - 1] = { ...last, toMs };
    else spans.push({ lease: name, holder, fromMs, toMs, before });
  };
  segments.forEach((segment, index) => {
    const holder = shortHolder(segment.holder);
    const next = segments[index + 1];
    const expiresMs = (renewedAtMs ?? segment.fromMs) + durationSeconds * 1000;
    const isOver = segment.toMs === null && expiresMs < serverNowMs;
    const endMs = isOver ? Math.max(segment.fromMs, expiresMs) : segment.toMs;
    push(holder, segment.fromMs, endMs);
    if (holder === '' || endMs === null) return;
    if (!next) push('', endMs, null);
    else if (next.holder !== '' && next.fromMs - endMs >= GAP_MIN_MS) push('', endMs, next.fromMs);
  });
  return spans;
};

/** A colour for each holder, the same in every lane; by name, so that it stays when one comes or goes. */
export const holderColours = (spans: readonly HolderSpan[]): ReadonlyMap<string, number> =>
  new Map(
    [...new Set(spans.map(({ holder }) => holder).filter((holder) => holder !== ''))]
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
      .map((holder, index) => [holder, index < HOLDER_COLOURS ? index + 1 : OTHER_COLOUR]),
  );
