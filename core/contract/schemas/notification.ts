import * as v from 'valibot';
import { said } from '../sentences/said.ts';

export const severity = v.picklist(['ok', 'info', 'warn', 'error']);
export type Severity = v.InferOutput<typeof severity>;

/** Result and object; `detail` has the reason, or what to do. */
export const notification = v.object({
  id: v.string(),
  severity,
  title: said,
  detail: v.optional(said),
  atMs: v.number(),
});
export type Notification = v.InferOutput<typeof notification>;
