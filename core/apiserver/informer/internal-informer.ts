import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { wait } from '../../base/wait.ts';
import {
  groupResourceText,
  objectKey,
  type GroupResource,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import { EVERY_FIELD, EVERYTHING } from '../../api/selector/index.ts';
import type { UserInfo } from '../server/user.ts';
import type { RestRegistry, RestStorage } from '../registry/rest-storage.ts';

const BATCH_ITEMS_MAX = 500;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 2_000;

/** Told of the objects of one resource. Objects are shared: never change them. */
export interface Follower {
  upsert(object: KubernetesObject): void;
  remove(object: KubernetesObject): void;
}

export interface Following extends Disposable {
  /** Resolves when the follower has heard of everything that was there when it began. */
  readonly ready: Promise<void>;
}

export interface InternalInformerOptions {
  readonly registry: Pick<RestRegistry, 'storageOf'>;
  readonly user: UserInfo;
  readonly clock: Clock;
  readonly log: Log;
}

/** Follows resources for the server's own use, each of them once. */
export interface InternalInformer extends Disposable {
  /** A resource that this server does not serve has no objects: the follower is ready immediately. */
  follow(resource: GroupResource, follower: Follower): Following;
}

/** One watch on one resource, for as long as somebody follows it. */
class ResourceFeed {
  readonly #resource: GroupResource;
  readonly #watch: NonNullable<RestStorage['watch']>;
  readonly #options: InternalInformerOptions;
  readonly #stop = new AbortController();
  readonly #followers = new Set<Follower>();
  readonly #known = new Map<string, KubernetesObject>();
  readonly #filled: Promise<void>;

  constructor(
    resource: GroupResource,
    watch: NonNullable<RestStorage['watch']>,
    options: InternalInformerOptions,
  ) {
    this.#resource = resource;
    this.#watch = watch;
    this.#options = options;
    this.#filled = new Promise((resolve) => void this.#run(resolve));
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  add(follower: Follower): Promise<void> {
    this.#followers.add(follower);
    for (const object of this.#known.values()) this.#tell([follower], (one) => one.upsert(object));
    return this.#filled;
  }

  delete(follower: Follower): void {
    this.#followers.delete(follower);
  }

  stop(): void {
    this.#stop.abort();
  }

  /** A follower that fails must not keep others, or itself, from what comes next. */
  #tell(followers: Iterable<Follower>, tell: (follower: Follower) => void): void {
    for (const follower of followers)
      try {
        tell(follower);
      } catch (error) {
        this.#options.log.write('error', 'a follower of the internal informer failed', {
          resource: groupResourceText(this.#resource),
          error: messageOf(error),
        });
      }
  }

  #upsert(key: string, object: KubernetesObject): void {
    this.#known.set(key, object);
    this.#tell(this.#followers, (one) => one.upsert(object));
  }

  #remove(key: string, object: KubernetesObject): void {
    this.#known.delete(key);
    this.#tell(this.#followers, (one) => one.remove(object));
  }

  async #run(onFilled: () => void): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stop;
    let retryMs = RETRY_MS_MIN;
    while (!signal.aborted) {
      try {
        await this.#watchOnce(() => {
          retryMs = RETRY_MS_MIN;
          onFilled();
        });
      } catch (error) {
        log.write('warn', 'the internal informer could not watch', {
          resource: groupResourceText(this.#resource),
          error: messageOf(error),
        });
      }
      await wait(clock, retryMs, signal);
      retryMs = Math.min(RETRY_MS_MAX, retryMs * 2);
    }
  }

  /** Until the watch ends; calls back when its first state is complete. */
  async #watchOnce(onState: () => void): Promise<void> {
    const { signal } = this.#stop;
    const scope = { user: this.#options.user, namespace: '', signal, warn: () => undefined };
    const watcher = await this.#watch(scope, {
      labelSelector: EVERYTHING,
      fieldSelector: EVERY_FIELD,
      start: 'state',
      stateBookmark: true,
      bookmarks: false,
    });
    const end = (): void => watcher.dispose();
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    // What was deleted while nothing was watched is what the new state does not have.
    const gone = new Map(this.#known);
    try {
      for await (const items of watcher.batches(BATCH_ITEMS_MAX))
        for (const item of items) {
          if (item.type === 'BOOKMARK') {
            if (!item.initialEventsEnd) continue;
            for (const [key, object] of gone) this.#remove(key, object);
            gone.clear();
            onState();
            continue;
          }
          const { object } = item.current;
          const key = objectKey(object);
          gone.delete(key);
          if (item.type === 'DELETED') this.#remove(key, object);
          else this.#upsert(key, object);
        }
    } finally {
      signal.removeEventListener('abort', end);
    }
  }
}

export const createInternalInformer = (options: InternalInformerOptions): InternalInformer => {
  const feeds = new Map<string, ResourceFeed>();
  let isClosed = false;

  const feedOf = (resource: GroupResource): ResourceFeed | undefined => {
    const key = groupResourceText(resource);
    const known = feeds.get(key);
    if (known || isClosed) return known;
    const storage = options.registry.storageOf(resource.group, resource.resource, '');
    if (!storage?.watch) return undefined;
    const feed = new ResourceFeed(resource, storage.watch.bind(storage), options);
    feeds.set(key, feed);
    return feed;
  };

  return {
    follow(resource, follower) {
      const feed = feedOf(resource);
      if (feed === undefined) return { ready: Promise.resolve(), dispose: () => undefined };
      return {
        ready: feed.add(follower),
        dispose() {
          feed.delete(follower);
          if (feed.isFollowed) return;
          feed.stop();
          if (feeds.get(groupResourceText(resource)) === feed) feeds.delete(groupResourceText(resource));
        },
      };
    },
    dispose() {
      isClosed = true;
      for (const feed of feeds.values()) feed.stop();
      feeds.clear();
    },
  };
};
