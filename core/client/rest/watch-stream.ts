import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { isJsonObject } from '../../api/meta/object-meta.ts';
import { statusErrorFrom, type Status } from '../../api/meta/status.ts';
import type { ByteStream, WatchEvent, WatchStream } from '../client.ts';
import type { Stored } from '../kind.ts';
import { parseJson, readLines } from './body.ts';
import { ClientError } from './errors.ts';

const TYPES = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);
const INITIAL_EVENTS_END_ANNOTATION = 'k8s.io/initial-events-end';

const decode = <T extends KubernetesObject>(line: string): WatchEvent<T> => {
  const event = parseJson(line, 'a watch');
  if (!isJsonObject(event) || !isJsonObject(event['object']))
    throw new ClientError('MalformedAnswer', 'a watch sent an invalid event');
  if (event['type'] === 'ERROR') throw statusErrorFrom(event['object'] as Partial<Status>);
  if (!TYPES.has(event['type'] as string))
    throw new ClientError(
      'MalformedAnswer',
      `a watch sent an event of the unknown type ${String(event['type'])}`,
    );
  return event as unknown as WatchEvent<T> & { object: Stored<T> };
};

export const watchStream = <T extends KubernetesObject>(bytes: ByteStream): WatchStream<T> => ({
  dispose: () => bytes.dispose(),
  async *[Symbol.asyncIterator]() {
    try {
      for await (const line of readLines(bytes)) yield decode<T>(line);
    } finally {
      bytes.dispose();
    }
  },
});

/** The bookmark behind the objects that `sendInitialEvents` asked for. */
export const isInitialEventsEnd = (event: WatchEvent<KubernetesObject>): boolean =>
  event.type === 'BOOKMARK' && event.object.metadata.annotations?.[INITIAL_EVENTS_END_ANNOTATION] === 'true';
