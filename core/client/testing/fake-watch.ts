import type { Clock } from '../../base/clock.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { apiVersionOf } from '../../api/meta/group-version.ts';
import { StatusError } from '../../api/meta/status.ts';
import { invalid } from '../../api/meta/status-errors.ts';
import { TransportError } from '../rest/transport.ts';
import type { FakeRequest } from './fake-request.ts';
import { selectionOf, type Matches } from './fake-selection.ts';
import type { Change, MemoryStore } from './memory-store.ts';

const encoder = new TextEncoder();

/** A response body that is written to while it is read. */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = [];
  #end: { readonly error: Error | undefined } | undefined;
  #wake: (() => void) | undefined;

  write(text: string): void {
    if (this.#end) return;
    this.#chunks.push(encoder.encode(text));
    this.#wake?.();
  }

  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) yield chunk;
      else if (this.#end?.error) throw this.#end.error;
      else if (this.#end) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

export interface FakeWatchOptions {
  readonly request: FakeRequest;
  readonly store: MemoryStore;
  readonly table: string;
  readonly clock: Clock;
  readonly watchList: boolean;
  onEvent(): void;
}

/** One open watch. */
export class FakeWatch {
  readonly body = new ByteQueue();
  readonly #options: FakeWatchOptions;
  readonly #matches: Matches;
  readonly #open = new DisposableStore();

  /** Throws StatusError where a server would refuse before the first event. */
  constructor(options: FakeWatchOptions) {
    const { request, store, table, clock } = options;
    this.#options = options;
    this.#matches = selectionOf(request);
    const { query } = request;
    const initial = query.get('sendInitialEvents') === 'true';
    if (initial && !options.watchList)
      throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [
        {
          reason: 'FieldValueForbidden',
          message:
            'Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
          field: 'sendInitialEvents',
        },
      ]);
    this.#begin(initial, query.get('resourceVersion') ?? '');
    this.#open.defer(store.onChange((change) => change.table === table && this.#send(change)));
    const timeoutSeconds = Number(query.get('timeoutSeconds') ?? 0);
    if (timeoutSeconds > 0) this.#open.add(clock.after(timeoutSeconds * 1000, () => this.end()));
  }

  get plural(): string {
    return this.#options.request.type.plural;
  }

  bookmark(annotations?: Record<string, string>): void {
    const { request, store } = this.#options;
    const metadata = { resourceVersion: String(store.revision), ...(annotations && { annotations }) };
    this.#write('BOOKMARK', { apiVersion: apiVersionOf(request.type), kind: request.type.kind, metadata });
  }

  /** The server ends it in order, with an error event, or the connection breaks. */
  end(error?: Error): void {
    this.#open.dispose();
    if (error instanceof StatusError) this.#write('ERROR', error.status);
    this.body.end(error instanceof StatusError ? undefined : error);
  }

  cut(): void {
    this.end(new TransportError('ConnectionLost', 'the connection was cut', { maybeProcessed: true }));
  }

  #begin(initial: boolean, resourceVersion: string): void {
    const { store, table, request } = this.#options;
    const past = resourceVersion === '' || resourceVersion === '0' ? undefined : Number(resourceVersion);
    if (past !== undefined && !initial) {
      for (const change of store.since(table, past)) this.#send(change);
      return;
    }
    for (const object of store.list(table)) if (this.#matches(object)) this.#write('ADDED', object);
    if (initial && request.query.get('allowWatchBookmarks') === 'true')
      this.bookmark({ 'k8s.io/initial-events-end': 'true' });
  }

  /** An object that moves out of the selection is deleted for this watch, one that moves in is added. */
  #send({ type, before, after }: Change): void {
    const was = before !== undefined && this.#matches(before);
    const is = type !== 'DELETED' && this.#matches(after);
    if (is) this.#write(was ? 'MODIFIED' : 'ADDED', after);
    else if (was) this.#write('DELETED', after);
  }

  #write(type: string, object: unknown): void {
    this.#options.onEvent();
    this.body.write(`${JSON.stringify({ type, object })}\n`);
  }
}
