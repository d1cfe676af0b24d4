import { storedKey } from './key-value.ts';
import { Event, keyString } from './model.ts';
import type { ReadView } from './range.ts';
import { decodeRevision, encodeRevision, isTombstone } from './revision.ts';

export interface History {
  readonly events: Event[];
  /** The first revision not in `events`; one above the store's when there is no more. */
  readonly nextRevision: number;
}

/**
 * Changes from a revision on, in order, about `eventsMax` of them: never a part of a revision, since the
 * changes of one revision must reach a watcher together. `from` must not lie below the compacted revision.
 */
export const readHistory = (view: ReadView, from: number, eventsMax: number): History => {
  const end = view.revision + 1;
  const until = encodeRevision(end, 0);
  let start = encodeRevision(from, 0);
  const events: Event[] = [];
  for (;;) {
    const chunk = view.backend.range('key', start, until, eventsMax);
    for (const { key, value } of chunk) {
      const { main } = decodeRevision(key);
      const type = isTombstone(key) ? 'delete' : 'put';
      events.push(new Event(type, keyString(storedKey(value)), main, value));
    }
    const last = chunk[chunk.length - 1];
    if (chunk.length < eventsMax || last === undefined) return { events, nextRevision: end };
    const cut = decodeRevision(last.key).main;
    const whole = events.findIndex((event) => event.modRevision === cut);
    if (whole > 0) {
      events.length = whole;
      return { events, nextRevision: cut };
    }
    // One revision alone fills the chunk: read on until it is whole.
    start = Buffer.concat([last.key, Buffer.of(0)]);
  }
};
