import { randomUUID } from 'node:crypto';
import { findNetwork } from '../../core/cluster/data-folder/network.ts';

/** From here on, files have networks of their own that they name. */
const NAMED_FIRST = 200;
const TRIES_MAX = 1_000;

/** A network of clusters that neither this machine nor another test uses, also where an earlier run was killed. */
export const freeNetwork = async (): Promise<number> => {
  for (let tried = 0; tried < TRIES_MAX; tried += 1) {
    // The search begins at a place that follows from the name.
    const network = await findNetwork(randomUUID());
    if (network < NAMED_FIRST) return network;
  }
  throw new Error('no network is free');
};
