/** One thing that was looked at. `advice` says what to do, where something is. */
export interface Finding {
  readonly name: string;
  readonly verdict: 'ok' | 'warning' | 'problem';
  readonly message: string;
  readonly advice?: string;
}

export const fine = (name: string, message: string): Finding => ({ name, verdict: 'ok', message });
export const warning = (name: string, message: string, advice: string): Finding => ({
  name,
  verdict: 'warning',
  message,
  advice,
});
export const problem = (name: string, message: string, advice: string): Finding => ({
  name,
  verdict: 'problem',
  message,
  advice,
});
