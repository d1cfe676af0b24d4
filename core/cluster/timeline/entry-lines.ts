import * as v from 'valibot';
import { timelineEntry } from '../../contract/index.ts';

/** A stored entry: its cause is found when it is read. */
const storedEntry = v.omit(timelineEntry, ['cause']);
export type StoredEntry = v.InferOutput<typeof storedEntry>;

const endLine = v.object({
  end: v.number(),
  atMs: v.number(),
  severity: v.optional(timelineEntry.entries.severity),
  text: v.optional(timelineEntry.entries.text),
});
export type EndLine = v.InferOutput<typeof endLine>;

export const LINE_CHARACTERS_MAX = 8 * 1024;
const line = v.union([endLine, storedEntry]);

export const encodeLine = (value: StoredEntry | EndLine): string => `${JSON.stringify(value)}\n`;

/** Undefined for a line that was cut short or damaged. */
const decodeLine = (text: string): StoredEntry | EndLine | undefined => {
  if (text.length > LINE_CHARACTERS_MAX) return undefined;
  try {
    const parsed = v.safeParse(line, JSON.parse(text));
    return parsed.success ? parsed.output : undefined;
  } catch {
    // Not JSON: half of a line, before the process was killed.
    return undefined;
  }
};

/**
 * Puts lines together: spans get their ends, and what was open when a recording broke off ends with the last entry
 * before the next recording.
 */
export class LineReader {
  entries: StoredEntry[] = [];
  readonly #open = new Map<number, number>();
  /** Of `entries`, the first ones, which an earlier `drain` has returned. */
  #drained = 0;
  damagedLines = 0;
  #lastMs = 0;

  add(text: string): void {
    for (const each of text.split('\n')) if (each !== '') this.#line(each);
  }

  #line(text: string): void {
    const value = decodeLine(text);
    if (!value) {
      this.damagedLines += 1;
      return;
    }
    if ('end' in value) {
      this.#end(value);
      return;
    }
    if (value.kind === 'recordingBegan') this.breakOff();
    if (value.isOpen) this.#open.set(value.id, this.entries.length);
    this.entries.push(value);
    this.#lastMs = value.atMs;
  }

  #end({ end, atMs, severity, text }: EndLine): void {
    const place = this.#open.get(end);
    this.#open.delete(end);
    this.#lastMs = atMs;
    // Its beginning was deleted with an older file.
    if (place === undefined) return;
    const entry = this.entries[place]!;
    this.entries[place] = {
      ...entry,
      isOpen: false,
      endMs: Math.max(entry.atMs, atMs),
      ...(severity && { severity }),
      ...(text && { text }),
    };
  }

  /** Entries that are new or have ended since the last call. Only those that are open are kept. */
  drain(): readonly StoredEntry[] {
    const news = this.entries.filter(({ isOpen }, place) => place >= this.#drained || !isOpen);
    this.entries = this.entries.filter(({ isOpen }) => isOpen);
    this.#drained = this.entries.length;
    this.#open.clear();
    for (const [place, { id }] of this.entries.entries()) this.#open.set(id, place);
    return news;
  }

  /** Nothing follows: what is open ended with the last line. */
  breakOff(): void {
    for (const place of this.#open.values()) {
      const entry = this.entries[place]!;
      this.entries[place] = { ...entry, isOpen: false, endMs: Math.max(entry.atMs, this.#lastMs) };
    }
    this.#open.clear();
  }
}
