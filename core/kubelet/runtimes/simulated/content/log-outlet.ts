import type { Clock } from '../../../../base/clock.ts';
import type { Disposable } from '../../../../base/disposable.ts';
import type { LogEntry } from './messages.ts';

export const FLUSH_MS_DEFAULT = 50;
/** What the kubelet is given in one go, of all containers together: it has other things to do. */
export const FLUSH_CHARACTERS_MAX = 128 * 1024;
export const FLUSH_LINES_MAX = 1_000;
/** Characters and lines of one container that wait for the kubelet before its program has to wait, too. */
export const LOG_WAIT_CHARACTERS = 64 * 1024;
export const LOG_WAIT_LINES = 500;

interface Piece {
  readonly stream: LogEntry['stream'];
  text: string;
}

interface Pending {
  readonly pieces: Piece[];
  characters: number;
  lines: number;
  waiting: (() => void)[];
}

const linesIn = (text: string): number => {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
};

/** Where a text has to be cut to have no more lines and characters than these. */
const cutAt = (text: string, lines: number, characters: number): number => {
  let end = 0;
  for (let line = 0; line < lines; line += 1) {
    const at = text.indexOf('\n', end);
    if (at < 0 || at >= characters) return Math.min(text.length, characters);
    end = at + 1;
  }
  return end;
};

/** Logs on their way to the kubelet: in batches, a bounded amount per time, whatever programs write. */
export class LogOutlet {
  readonly #clock: Clock;
  readonly #flushMs: number;
  readonly #post: (entries: readonly LogEntry[]) => void;
  readonly #pending = new Map<number, Pending>();
  #timer: Disposable | undefined;
  #flushedMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, flushMs: number, post: (entries: readonly LogEntry[]) => void) {
    this.#clock = clock;
    this.#flushMs = flushMs;
    this.#post = post;
  }

  write({ container, stream, text }: LogEntry): void {
    if (text === '') return;
    const pending = this.#pending.get(container) ?? { pieces: [], characters: 0, lines: 0, waiting: [] };
    this.#pending.set(container, pending);
    const last = pending.pieces.at(-1);
    if (last?.stream === stream) last.text += text;
    else pending.pieces.push({ stream, text });
    pending.characters += text.length;
    pending.lines += linesIn(text);
    this.#schedule();
  }

  /** A line that nothing waits for: left out when the container has too much on its way. */
  offer(entry: LogEntry): void {
    if (!this.#isFull(this.#pending.get(entry.container))) this.write(entry);
  }

  /** Undefined while the container may write more. */
  ready(container: number): Promise<void> | undefined {
    const pending = this.#pending.get(container);
    if (!pending || !this.#isFull(pending)) return undefined;
    return new Promise((resolve) => pending.waiting.push(resolve));
  }

  /** Everything of one container, before its end is told. */
  finish(container: number): void {
    const pending = this.#pending.get(container);
    if (!pending) return;
    this.#pending.delete(container);
    if (pending.pieces.length > 0) this.#post(pending.pieces.map((piece) => ({ container, ...piece })));
    for (const resolve of pending.waiting) resolve();
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#pending.clear();
  }

  #isFull(pending: Pending | undefined): boolean {
    return (
      pending !== undefined && (pending.characters >= LOG_WAIT_CHARACTERS || pending.lines >= LOG_WAIT_LINES)
    );
  }

  #schedule(): void {
    if (this.#timer) return;
    const waitMs = this.#flushedMs + this.#flushMs - this.#clock.monotonicMs();
    if (waitMs <= 0) this.#flush();
    else
      this.#timer = this.#clock.after(waitMs, () => {
        this.#timer = undefined;
        this.#flush();
      });
  }

  #flush(): void {
    this.#flushedMs = this.#clock.monotonicMs();
    const batch: LogEntry[] = [];
    let lines = FLUSH_LINES_MAX;
    let characters = FLUSH_CHARACTERS_MAX;
    const waiting = this.#pending.size;
    for (const [index, [container, pending]] of [...this.#pending].entries()) {
      // Each its share, so that one that is loud does not silence the others.
      const share = Math.max(1, Math.ceil(lines / (waiting - index)));
      const taken = this.#take(container, pending, Math.min(lines, share), characters);
      for (const { text } of taken) {
        lines -= Math.max(1, linesIn(text));
        characters -= text.length;
      }
      batch.push(...taken);
      if (lines <= 0 || characters <= 0) break;
    }
    if (batch.length > 0) this.#post(batch);
    if (this.#pending.size > 0) this.#schedule();
  }

  #take(container: number, pending: Pending, lines: number, characters: number): LogEntry[] {
    const taken: LogEntry[] = [];
    while (pending.pieces.length > 0 && lines > 0 && characters > 0) {
      const piece = pending.pieces[0]!;
      const end = cutAt(piece.text, lines, characters);
      const text = piece.text.slice(0, end);
      piece.text = piece.text.slice(end);
      if (piece.text === '') pending.pieces.shift();
      taken.push({ container, stream: piece.stream, text });
      const count = linesIn(text);
      lines -= Math.max(1, count);
      characters -= end;
      pending.lines -= count;
      pending.characters -= end;
    }
    // Behind the others for the next time.
    this.#pending.delete(container);
    if (pending.pieces.length > 0) this.#pending.set(container, pending);
    if (!this.#isFull(pending)) for (const resolve of pending.waiting.splice(0)) resolve();
    return taken;
  }
}
