import type { Endpoint } from './endpoints.ts';
import type { TrafficPolicy } from './service-port.ts';

/** Where a connection comes from; what is undefined is not known. */
export interface Origin {
  readonly node: string | undefined;
  readonly zone: string | undefined;
}

/**
 * Ready ones; where there is none, those that are ending but still serve, so that the last pods of a rolling update
 * are not cut off before their successors are ready.
 */
const usable = (endpoints: readonly Endpoint[]): readonly Endpoint[] => {
  const ready = endpoints.filter(({ isReady }) => isReady);
  return ready.length > 0
    ? ready
    : endpoints.filter(({ isServing, isTerminating }) => isServing && isTerminating);
};

/** Hints count only when every endpoint has them, and when some are meant for this origin: else all are used. */
const hinted = (endpoints: readonly Endpoint[], { node, zone }: Origin): readonly Endpoint[] => {
  if (node !== undefined && endpoints.every(({ forNodes }) => forNodes !== undefined)) {
    const near = endpoints.filter(({ forNodes }) => forNodes!.includes(node));
    if (near.length > 0) return near;
  }
  if (zone !== undefined && endpoints.every(({ forZones }) => forZones !== undefined)) {
    const near = endpoints.filter(({ forZones }) => forZones!.includes(zone));
    if (near.length > 0) return near;
  }
  return endpoints;
};

/**
 * The endpoints among which connections of one origin are spread. With `Local` only those on its node; an origin that
 * is on no node at all (a program of the user) is served as if its node had one.
 */
export const selectEndpoints = (
  endpoints: readonly Endpoint[],
  policy: TrafficPolicy,
  origin: Origin,
): readonly Endpoint[] => {
  if (policy === 'Local' && origin.node !== undefined)
    return usable(endpoints.filter(({ nodeName }) => nodeName === origin.node));
  return hinted(usable(endpoints), origin);
};
