import { EVENT_TYPE, Event, WatchResponse } from '../../proto/index.ts';
import type { WatchResponseIn } from '../../proto/index.ts';
import { MESSAGE_HEAD_BYTES } from '../grpc/deframer.ts';
import type { WatchEvent } from '../member-api.ts';

/** An event as a field of a WatchResponse, by the event's identity: many watchers, one encoding. */
const plain = new WeakMap<WatchEvent, Buffer>();
const withPrevious = new WeakMap<WatchEvent, Buffer>();

const encodeEvent = (event: WatchEvent, prevKv: boolean): Buffer => {
  const message = Event.encode({
    type: event.type === 'put' ? EVENT_TYPE.PUT : EVENT_TYPE.DELETE,
    kv: event.kv.encoded,
    prevKv: prevKv ? (event.prevKv?.encoded ?? undefined) : undefined,
  });
  // A message is the concatenation of its fields, so a field can be encoded alone.
  return WatchResponse.encode({ events: [message] });
};

export const encodedEvent = (event: WatchEvent, prevKv: boolean): Buffer => {
  const cache = prevKv ? withPrevious : plain;
  let bytes = cache.get(event);
  if (bytes === undefined) {
    bytes = encodeEvent(event, prevKv);
    cache.set(event, bytes);
  }
  return bytes;
};

/** One response, ready for `sendEncoded`: `head` carries everything but the events. */
export const encodeWatchResponse = (head: WatchResponseIn, events: readonly Buffer[]): Buffer => {
  const bytes = WatchResponse.encode(head, MESSAGE_HEAD_BYTES);
  return events.length === 0 ? bytes : Buffer.concat([bytes, ...events]);
};

/**
 * Cuts events into responses below `responseBytesMax`, at least one event each, as etcd does for watchers that
 * allow it: the last piece is the one without `fragment`.
 */
export const fragmentEvents = (
  events: readonly Buffer[],
  options: { readonly headBytes: number; readonly responseBytesMax: number },
): Buffer[][] => {
  const pieces: Buffer[][] = [];
  let piece: Buffer[] = [];
  let bytes = options.headBytes;
  for (const event of events) {
    if (piece.length > 0 && bytes + event.length >= options.responseBytesMax) {
      pieces.push(piece);
      piece = [];
      bytes = options.headBytes;
    }
    piece.push(event);
    bytes += event.length;
  }
  pieces.push(piece);
  return pieces;
};
