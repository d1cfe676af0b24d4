import { emptyObjectOf } from '../../api/apply/index.ts';
import { apiVersionOf, type KubernetesObject } from '../../api/meta/index.ts';
import type { SelectedEvent } from '../registry/generic/selection.ts';
import type { CacheBookmark, CacheEvent } from '../storage/watch-cache/cached-object.ts';
import { encodeJson, heldJson } from './encode.ts';
import type { Endpoint } from './endpoint.ts';
import { partialMetadata, tableOf, type TableForm } from './table.ts';

type Event = CacheEvent<KubernetesObject>;
type Type = Event['type'];

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
const END_OF_LINE = Buffer.from('}\n');

/** The lines of events of one type begin alike. */
const HEADS: Readonly<Record<Type | 'BOOKMARK' | 'ERROR', Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
  BOOKMARK: Buffer.from('{"type":"BOOKMARK","object":'),
  ERROR: Buffer.from('{"type":"ERROR","object":'),
};

export const eventLine = (type: keyof typeof HEADS, object: Uint8Array): Uint8Array =>
  Buffer.concat([HEADS[type], object, END_OF_LINE]);

/** How the objects of one watch are written. */
export interface EventWriter {
  event(event: Event, seen: SelectedEvent): Uint8Array;
  bookmark(bookmark: CacheBookmark): Uint8Array;
}

const bookmarkObject = (
  endpoint: Endpoint,
  { revision, initialEventsEnd }: CacheBookmark,
): KubernetesObject => ({
  ...emptyObjectOf(endpoint.struct),
  kind: endpoint.kind.kind,
  apiVersion: apiVersionOf(endpoint.kind),
  metadata: {
    resourceVersion: String(revision),
    ...(initialEventsEnd && { annotations: { [INITIAL_EVENTS_END]: 'true' } }),
  },
});

/** One event has several lines: selectors see it as another type, or see the object that left their view. */
const formOf = (event: Event, { type, held }: SelectedEvent, format: string): string =>
  `${type}${held === event.current ? '+' : '-'}${format}`;

/** Whole objects: each line is made once, however many watch. */
export const objectWriter = (endpoint: Endpoint): EventWriter => {
  const { format } = endpoint;
  return {
    event: (event, seen) =>
      event.encoded(formOf(event, seen, format), () => eventLine(seen.type, heldJson(seen.held, endpoint))),
    bookmark: (bookmark) => eventLine('BOOKMARK', encodeJson(bookmarkObject(endpoint, bookmark))),
  };
};

export const metadataWriter = (endpoint: Endpoint, metaVersion: string): EventWriter => ({
  event: (event, seen) =>
    event.encoded(formOf(event, seen, metaVersion), () =>
      eventLine(seen.type, encodeJson(partialMetadata(metaVersion, seen.held.object.metadata))),
    ),
  bookmark: (bookmark) =>
    eventLine(
      'BOOKMARK',
      encodeJson(partialMetadata(metaVersion, bookmarkObject(endpoint, bookmark).metadata)),
    ),
});

/** Rows with ages: they differ with the time, so each watch writes its own. Only the first brings the columns. */
export const tableWriter = (endpoint: Endpoint, form: () => TableForm): EventWriter => {
  let isFirst = true;
  const line = (type: Type | 'BOOKMARK', object: KubernetesObject): Uint8Array => {
    const table = tableOf(endpoint, object, form(), isFirst);
    isFirst = false;
    return eventLine(type, encodeJson(table));
  };
  return {
    event: (_event, seen) => line(seen.type, seen.held.object),
    bookmark: (bookmark) => line('BOOKMARK', bookmarkObject(endpoint, bookmark)),
  };
};
