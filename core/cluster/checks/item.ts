import type { Finding } from '../../contract/index.ts';
import type { Look } from './look.ts';

export type Judged = Pick<Finding, 'verdict' | 'message' | 'advice'>;

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
/** The product itself has no such thing. */
export const absent = (message: string, advice = ''): Judged => ({ verdict: 'absent', message, advice });

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
