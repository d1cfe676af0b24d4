import { isDeepStrictEqual } from 'node:util';
import type { V1Endpoint } from '../../api/schema/index.ts';
import type { EndpointSlice, Stored } from '../../client/index.ts';
import { portsKey, type PortGroup } from './endpoints-of.ts';

/** What is to be written so that the slices of one family hold what they should; as few writes as can be. */
export interface SlicePlan {
  readonly create: readonly Pick<EndpointSlice, 'endpoints' | 'ports'>[];
  readonly update: readonly Stored<EndpointSlice>[];
  readonly remove: readonly Stored<EndpointSlice>[];
}

interface Holding {
  readonly slice: Stored<EndpointSlice>;
  endpoints: V1Endpoint[];
  changed: boolean;
}

/** An endpoint is the same while its pod and address are: what else it says is updated in place. */
const identity = ({ targetRef, addresses }: V1Endpoint): string =>
  [targetRef?.namespace, targetRef?.name, targetRef?.uid, ...addresses].join('|');

/** Absent and false mean different things in a slice, but hints of nothing are none. */
const same = (a: V1Endpoint, b: V1Endpoint): boolean => isDeepStrictEqual(plain(a), plain(b));
const plain = (value: V1Endpoint): unknown => JSON.parse(JSON.stringify(value));

/** Keeps in each slice what is still wanted; what is wanted and in none is returned. */
const keepWanted = (holdings: readonly Holding[], group: PortGroup | undefined): V1Endpoint[] => {
  const wanted = new Map((group?.endpoints ?? []).map((endpoint) => [identity(endpoint), endpoint]));
  for (const holding of holdings) {
    const kept: V1Endpoint[] = [];
    for (const endpoint of holding.slice.endpoints ?? []) {
      const next = wanted.get(identity(endpoint));
      if (!next) {
        holding.changed = true;
        continue;
      }
      wanted.delete(identity(endpoint));
      if (same(endpoint, next)) kept.push(endpoint);
      else {
        holding.changed = true;
        kept.push(next);
      }
    }
    holding.endpoints = kept;
  }
  return [...wanted.values()];
};

/** Slices that are written anyway take what they can; then the one that it fills best; the rest needs new ones. */
const place = (
  holdings: readonly Holding[],
  homeless: V1Endpoint[],
  sliceEndpointsMax: number,
): V1Endpoint[][] => {
  const room = ({ endpoints }: Holding): number => sliceEndpointsMax - endpoints.length;
  const fill = (holding: Holding): void => {
    holding.endpoints = [...holding.endpoints, ...homeless.splice(0, Math.max(0, room(holding)))];
    holding.changed = true;
  };
  for (const holding of holdings)
    if (homeless.length > 0 && holding.changed && holding.endpoints.length > 0) fill(holding);
  // An emptied slice is better filled again than deleted while another is made.
  for (const holding of holdings)
    if (homeless.length > 0 && holding.changed && holding.endpoints.length === 0) fill(holding);
  const fresh: V1Endpoint[][] = [];
  while (homeless.length > 0) {
    const count = homeless.length;
    const fitting = holdings
      .filter((holding) => !holding.changed && room(holding) >= count)
      .sort((a, b) => room(a) - room(b))[0];
    if (fitting && count < sliceEndpointsMax) fill(fitting);
    else fresh.push(homeless.splice(0, sliceEndpointsMax));
  }
  return fresh;
};

/** Plans one address family. */
export const planSlices = (options: {
  readonly existing: readonly Stored<EndpointSlice>[];
  readonly groups: ReadonlyMap<string, PortGroup>;
  readonly sliceEndpointsMax: number;
  /** Something always stays, if only an empty slice: consumers see that nothing is there. */
  readonly keepsOne: boolean;
  /** Whether labels or annotations of a slice are not as they should be. */
  isStale(slice: Stored<EndpointSlice>): boolean;
}): SlicePlan => {
  const { existing, groups, sliceEndpointsMax } = options;
  const create: Pick<EndpointSlice, 'endpoints' | 'ports'>[] = [];
  const update: Stored<EndpointSlice>[] = [];
  const remove: Stored<EndpointSlice>[] = [];
  const keys = new Set([...groups.keys(), ...existing.map(({ ports }) => portsKey(ports))]);
  let kept = 0;
  for (const key of keys) {
    const group = groups.get(key);
    const holdings = existing
      .filter(({ ports }) => portsKey(ports) === key)
      .map((slice): Holding => ({ slice, endpoints: [], changed: false }));
    const fresh = place(holdings, keepWanted(holdings, group), sliceEndpointsMax);
    for (const { slice, endpoints, changed } of holdings) {
      if (endpoints.length === 0) remove.push(slice);
      else {
        kept += 1;
        if (changed || options.isStale(slice)) update.push({ ...slice, endpoints });
      }
    }
    for (const endpoints of fresh) create.push({ endpoints, ports: [...(group?.ports ?? [])] });
  }
  if (options.keepsOne && kept === 0 && create.length === 0) {
    const placeholder = remove.find(({ ports, endpoints }) => !ports?.length && !endpoints?.length);
    if (!placeholder) create.push({ endpoints: [], ports: [] });
    else {
      remove.splice(remove.indexOf(placeholder), 1);
      if (options.isStale(placeholder)) update.push(placeholder);
    }
  }
  return { create, update, remove };
};
