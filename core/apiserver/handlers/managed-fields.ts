import { formatTime, type KubernetesObject } from '../../api/meta/index.ts';
import type { JsonObject } from '../../api/patch/index.ts';
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

/** Both objects are in the version of the path. The result is a tree whose top and metadata are the caller's. */
export const trackUpdate = (
  call: HandlerCall,
  {
    live,
    next,
    fieldManager,
  }: {
    readonly live: KubernetesObject | undefined;
    readonly next: KubernetesObject;
    readonly fieldManager: string;
  },
): KubernetesObject => {
  const { endpoint, services } = call;
  if (!endpoint.fields) return next;
  return endpoint.fields.update({
    live: live as JsonObject | undefined,
    next: next as JsonObject,
    manager: managerOf(fieldManager, userAgentOf(call)),
    time: formatTime(services.clock.nowMs()),
  }) as unknown as KubernetesObject;
};
