import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placeOf } from '../../core/cluster/data-folder/network.ts';

/** Clusters of tests that find a network on their own. */
const CLUSTER_NAMES = ['desk', 'harbour', 'rehearsal'];
/** More than workers that run such tests at the same time. */
const SHARES = 4;
const TRIES_MAX = 10_000;

/**
 * A new folder for a console, with `data` in it. Its clusters begin their search for a network in a share of this
 * worker's own: two that start at the same moment would both find the same one free.
 */
export const ownFolder = (prefix: string, data = '.'): string => {
  const share = Number(process.env['VITEST_POOL_ID'] ?? 0) % SHARES;
  for (let tried = 0; tried < TRIES_MAX; tried += 1) {
    const folder = join(tmpdir(), `${prefix}${randomUUID().slice(0, 8)}`);
    const places = CLUSTER_NAMES.map((name) => placeOf(join(folder, data, 'clusters', name)));
    if (places.some((place) => place % SHARES !== share)) continue;
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  }
  throw new Error('no folder suits this worker');
};
