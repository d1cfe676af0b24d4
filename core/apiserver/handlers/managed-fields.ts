import type { FieldManager } from '../../api/apply/index.ts';
import { formatTime, type KubernetesObject } from '../../api/meta/index.ts';
import type { JsonObject } from '../../api/patch/json.ts';
import type { HandlerCall } from './handler-call.ts';

/** Bytes of a manager's name, as upstream bounds it. */
const MANAGER_BYTES_MAX = 128;
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** The program of a User-Agent: what stands before the first slash. */
export const managerOf = (fieldManager: string, userAgent: string): string => {
  if (fieldManager !== '') return fieldManager;
  let name = '';
  let bytes = 0;
  for (const character of userAgent.split('/', 1)[0]!.replace(UNPRINTABLE, '')) {
    bytes += Buffer.byteLength(character);
    if (bytes > MANAGER_BYTES_MAX) break;
    name += character;
  }
  return name;
};

export const userAgentOf = ({ context }: HandlerCall): string =>
  context.request.headers.get('user-agent') ?? '';

export interface TrackedChange {
  readonly live: KubernetesObject | undefined;
  readonly next: KubernetesObject;
  readonly fieldManager: string;
}

const track = (
  call: HandlerCall,
  fields: FieldManager | undefined,
  { live, next, fieldManager }: TrackedChange,
): KubernetesObject => {
  if (!fields) return next;
  return fields.update({
    live: live as JsonObject | undefined,
    next: next as JsonObject,
    manager: managerOf(fieldManager, userAgentOf(call)),
    time: formatTime(call.services.clock.nowMs()),
  }) as unknown as KubernetesObject;
};

/** Both objects are in the version of the path. The result is a tree whose top and metadata are the caller's. */
export const trackUpdate = (call: HandlerCall, change: TrackedChange): KubernetesObject =>
  track(call, call.endpoint.fields, change);

/** The same for the object behind a view, such as the Deployment behind a Scale. */
export const trackViewed = (call: HandlerCall, change: TrackedChange): KubernetesObject =>
  track(call, call.endpoint.viewedFields, change);
