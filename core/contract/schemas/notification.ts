import * as v from 'valibot';

export const severity = v.picklist(['ok', 'info', 'warn', 'error']);
export type Severity = v.InferOutput<typeof severity>;

/** Result, object, way back. `title` and `detail` are finished sentences. */
export const notification = v.object({
  id: v.string(),
  severity,
  title: v.string(),
  detail: v.optional(v.string()),
  atMs: v.number(),
});
export type Notification = v.InferOutput<typeof notification>;
