import * as v from 'valibot';
import { faultRequest } from '../actions/fault.ts';

/** What is broken right now: what was asked for, the id by which it is healed, and one line about it. */
export const activeFault = v.intersect([faultRequest, v.object({ id: v.string(), text: v.string() })]);
export type ActiveFault = v.InferOutput<typeof activeFault>;
