import * as v from 'valibot';
import { name } from './define.ts';

const milliseconds = v.pipe(v.number(), v.integer());

/** The load balancer by the name that links know it by. */
export const LOAD_BALANCER_END = 'load-balancer';

const link = { from: name, to: name, isOneWay: v.boolean() };

/** What can be broken intentionally. Names are hosts of the cluster; `load-balancer` is one for links. */
export const faultRequest = v.variant('kind', [
  /** Nothing that `from` sends reaches `to`; both ways unless `isOneWay`. Silence, not a reset. */
  v.object({ kind: v.literal('cut'), ...link }),
  v.object({ kind: v.literal('delay'), ...link, delayMs: milliseconds }),
  /** Every fsync of the host's member takes this much longer. */
  v.object({ kind: v.literal('slow-disk'), host: name, delayMs: milliseconds }),
  /** The wall clock of everything on the host is off by this much. */
  v.object({ kind: v.literal('clock'), host: name, offsetMs: milliseconds }),
]);
export type FaultRequest = v.InferOutput<typeof faultRequest>;
