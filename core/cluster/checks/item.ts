import type { Finding } from '../../contract/index.ts';
import type { Look } from './look.ts';

export type Judged = Pick<Finding, 'verdict' | 'message' | 'advice' | 'fix'>;
export type Fix = NonNullable<Finding['fix']>;

/** One thing that a production control plane has. */
export interface CheckItem {
  readonly id: string;
  readonly title: string;
  /** Rejects when it cannot be measured. */
  measure(look: Look): Promise<Judged>;
}

export const ok = (message: string): Judged => ({ verdict: 'ok', message, advice: '' });
export const warn = (message: string, advice: string): Judged => ({ verdict: 'warning', message, advice });
export const bad = (message: string, advice: string): Judged => ({ verdict: 'problem', message, advice });
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

/** The product itself has no such thing. */
export const absent = (message: string, advice = ''): Judged => ({ verdict: 'absent', message, advice });

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
