import type { Clock } from '../../base/clock.ts';
import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { isConflict } from '../../api/meta/status.ts';
import type { ResourceClient } from '../client.ts';
import type { Stored } from '../kind.ts';
import { pause } from '../rest/pause.ts';

/** client-go's DefaultRetry. */
const CONFLICT_TRIES_MAX = 5;
const CONFLICT_PAUSE_MS = 10;

/**
 * Reads an object, changes the copy and writes it, again when somebody else was faster. `change` returns undefined
 * when there is nothing to do. Rejects with the last conflict after five.
 */
export const updateOnConflict = async <T extends KubernetesObject>(
  resource: ResourceClient<T>,
  name: string,
  options: {
    readonly clock: Clock;
    readonly status?: boolean;
    readonly signal?: AbortSignal;
    change(object: Stored<T>): T | undefined;
  },
): Promise<Stored<T>> => {
  const request = options.signal ? { signal: options.signal } : {};
  for (let tries = 1; ; tries += 1) {
    const read = await resource.get(name, request);
    const next = options.change(read);
    if (next === undefined) return read;
    try {
      return await (options.status ? resource.updateStatus(next, request) : resource.update(next, request));
    } catch (error) {
      if (!isConflict(error) || tries >= CONFLICT_TRIES_MAX) throw error;
      await pause(options.clock, CONFLICT_PAUSE_MS * tries, options.signal);
    }
  }
};
