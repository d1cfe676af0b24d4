import type { Disposable } from '../../../../base/disposable.ts';

export type SignalFate = 'default' | 'ignored' | 'trapped';

/** Signals that can have an action: others end a process. */
const TRAPPED = new Set(['HUP', 'INT', 'QUIT', 'TERM', 'USR1', 'USR2']);
const ACTION_CHARACTERS_MAX = 64 * 1024;

const SIGNAL_NAMES: Readonly<Record<string, string>> = {
  1: 'HUP',
  2: 'INT',
  3: 'QUIT',
  9: 'KILL',
  15: 'TERM',
};

/** `TERM` for `TERM`, `SIGTERM` and `15`. */
export const signalName = (text: string): string =>
  SIGNAL_NAMES[text] ?? text.toUpperCase().replace(/^SIG/, '');

/** Signals of the first process of a container, and what its shell has set for them. */
export class Signals {
  readonly #traps = new Map<string, string>();
  readonly #pending = new Set<string>();
  readonly #waiting = new Set<() => void>();

  /** As `trap`: an empty action ignores the signal, none gives it back its default. */
  trap(name: string, action: string | undefined): void {
    if (action === undefined) this.#traps.delete(name);
    else if (TRAPPED.has(name) && action.length <= ACTION_CHARACTERS_MAX) this.#traps.set(name, action);
  }

  deliver(name: string): SignalFate {
    const action = name === 'KILL' ? undefined : this.#traps.get(name);
    if (action === undefined) return 'default';
    if (action === '') return 'ignored';
    this.#pending.add(name);
    for (const wake of [...this.#waiting]) wake();
    return 'trapped';
  }

  /** The action of a signal that has come and was not handled yet. */
  take(): string | undefined {
    const [name] = this.#pending;
    if (name === undefined) return undefined;
    this.#pending.delete(name);
    return this.#traps.get(name);
  }

  /** A wait ends with the next signal that has an action. */
  onSignal(wake: () => void): Disposable {
    this.#waiting.add(wake);
    return { dispose: () => void this.#waiting.delete(wake) };
  }
}
