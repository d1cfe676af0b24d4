import { say, verbatim, type CheckId, type Finding, type Said } from '../../contract/index.ts';
import type { Look } from './look.ts';

export type Judged = Pick<Finding, 'verdict' | 'message' | 'advice' | 'fix'>;
export type Fix = NonNullable<Finding['fix']>;

/** One thing that a production control plane has. */
export interface CheckItem {
  readonly id: CheckId;
  /** Rejects when it cannot be measured. */
  measure(look: Look): Promise<Judged>;
}

export const ok = (message: Said): Judged => ({ verdict: 'ok', message, advice: null });
export const warn = (message: Said, advice: Said): Judged => ({ verdict: 'warning', message, advice });
export const bad = (message: Said, advice: Said): Judged => ({ verdict: 'problem', message, advice });
/** With what the console can do about it. */
export const fixedBy = (judged: Judged, fix: Fix): Judged => ({ ...judged, fix });
export const byAction = (action: Extract<Fix, { kind: 'action' }>['action']): Fix => ({
  kind: 'action',
  action,
});
export const byFlags = (component: string, flags: Readonly<Record<string, string | null>>): Fix =>
  byAction({
    kind: 'component.flags',
    component,
    flags: Object.entries(flags).map(([name, value]) => ({ name, value })),
  });

/** The first few names, and how many more there are. */
export const someOf = (names: readonly string[], namedMax = 5): Said =>
  names.length > namedMax
    ? say('found.more', { names: names.slice(0, namedMax).join(', '), count: names.length - namedMax })
    : verbatim(names.join(', '));
