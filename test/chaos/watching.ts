import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Kind, Stored } from '../../core/client/index.ts';
import type { KubernetesObject } from '../../core/api/meta/object-meta.ts';
import { StatusError } from '../../core/api/meta/status.ts';

const RETRY_MS = 100;
/** The server has forgotten what came after the version that a watch asks for. */
const GONE = 410;

export interface Watching {
  /** Lists that were needed because a watch could not continue where it was. */
  readonly relists: number;
  stop(): Promise<void>;
}

/** Follows a resource through every broken connection, from where it was. `onObject` sees each change once, in order. */
export const follow = async <T extends KubernetesObject>(
  client: Client,
  kind: Kind<T>,
  namespace: string | undefined,
  onObject: (type: string, object: Stored<T>) => void,
): Promise<Watching> => {
  const resource = client.resource(kind, namespace);
  const life = new AbortController();
  let resourceVersion = (await resource.list()).metadata.resourceVersion ?? '0';
  let relists = 0;
  const once = async (): Promise<void> => {
    const stream = await resource.watch({ resourceVersion, allowWatchBookmarks: true, signal: life.signal });
    for await (const { type, object } of stream) {
      const seen = object as Stored<T>;
      resourceVersion = seen.metadata.resourceVersion;
      if (type !== 'BOOKMARK') onObject(type, seen);
    }
  };
  const relist = async (): Promise<void> => {
    relists += 1;
    const list = await resource.list();
    for (const item of list.items) onObject('RELISTED', item);
    resourceVersion = list.metadata.resourceVersion ?? '0';
  };
  const following = (async () => {
    while (!life.signal.aborted) {
      await once().catch(async (error: unknown) => {
        if (error instanceof StatusError && error.code === GONE) await relist().catch(() => undefined);
      });
      if (!life.signal.aborted) await sleep(RETRY_MS);
    }
  })();
  return {
    get relists() {
      return relists;
    },
    async stop() {
      life.abort();
      await following;
    },
  };
};
