import type { GroupResource } from '../../api/meta/index.ts';
import { groupResourceText } from '../../api/meta/index.ts';
import type { RequestContext } from '../server/context.ts';
import type { Work } from './queue-set.ts';

/** Upstream's: objects that a list goes through for one seat, and the most that one request may take. */
const OBJECTS_PER_SEAT = 100;
const SEATS_MAX = 10;
/** Watchers that one seat tells of a change within `EVENT_SECONDS`. */
const WATCHES_PER_SEAT = 10;
const EVENT_SECONDS = 0.005;

const ONE_SEAT: Work = { initialSeats: 1, finalSeats: 0, finalSeconds: 0 };
const MUTATING = new Set(['create', 'update', 'patch', 'delete', 'apply']);

export interface WorkEstimateOptions {
  /** Undefined where this server does not know the resource. */
  objectCount(resource: GroupResource): number | undefined;
  watchCount(resource: GroupResource): number;
}

const listWork = (
  { info, request }: RequestContext,
  seatsMax: number,
  objectCount: WorkEstimateOptions['objectCount'],
): Work => {
  const { query } = request;
  const version = query.get('resourceVersion') ?? '';
  if (info.verb === 'watch') {
    const sendsState = query.get('sendInitialEvents') === 'true' || version === '' || version === '0';
    if (!sendsState) return ONE_SEAT;
  }
  const stored = objectCount({ group: info.apiGroup, resource: info.resource });
  if (stored === undefined || info.name !== '') return ONE_SEAT;
  const limit = Number(query.get('limit') ?? 0);
  // A page after the first is read from etcd.
  const isFromCache = !query.has('continue');
  const limited = limit > 0 && limit < stored ? limit : stored;
  const selects = info.fieldSelector !== '' || info.labelSelector !== '';
  const objects = isFromCache ? stored : selects ? stored + limited : 2 * limited;
  const seats = Math.ceil(objects / OBJECTS_PER_SEAT);
  return { ...ONE_SEAT, initialSeats: Math.max(1, Math.min(seats, SEATS_MAX, Math.max(1, seatsMax))) };
};

const writeWork = (
  { info }: RequestContext,
  seatsMax: number,
  watchCount: WorkEstimateOptions['watchCount'],
): Work => {
  // A token is no object: no one watches it.
  if (info.resource === 'serviceaccounts' && info.subresource === 'token') return ONE_SEAT;
  const watches = watchCount({ group: info.apiGroup, resource: info.resource });
  if (watches < WATCHES_PER_SEAT) return ONE_SEAT;
  const wanted = Math.ceil(watches / WATCHES_PER_SEAT);
  const finalSeats = Math.max(1, Math.min(wanted, SEATS_MAX, Math.max(1, seatsMax)));
  return { initialSeats: 1, finalSeats, finalSeconds: (wanted * EVENT_SECONDS) / finalSeats };
};

/** How many seats a request takes of a level that has `seatsMax` on its own. */
export const estimateWork = (
  context: RequestContext,
  seatsMax: number,
  options: WorkEstimateOptions,
): Work => {
  const { info } = context;
  if (!info.isResourceRequest) return ONE_SEAT;
  if (info.verb === 'list' || info.verb === 'watch') return listWork(context, seatsMax, options.objectCount);
  return MUTATING.has(info.verb) ? writeWork(context, seatsMax, options.watchCount) : ONE_SEAT;
};

/** Watches of each resource on this server, for the price of a write. */
export class WatchCounts {
  readonly #counts = new Map<string, number>();

  of(resource: GroupResource): number {
    return this.#counts.get(groupResourceText(resource)) ?? 0;
  }

  change(resource: GroupResource, by: 1 | -1): void {
    const name = groupResourceText(resource);
    const count = this.of(resource) + by;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }
}
