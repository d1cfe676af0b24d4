import type { Clock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { Registry } from '../../../base/metrics/index.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import { createDynamicAdmission, type DynamicAdmission } from '../dynamic.ts';
import type { ObjectReader } from '../object-reader.ts';

/** Webhooks and policies of a server that has none. */
export const idleDynamicAdmission = (
  reader: ObjectReader,
  authorizer: Authorizer,
  clock: Clock,
): DynamicAdmission =>
  createDynamicAdmission({
    reader,
    authorizer,
    clock,
    metrics: new Registry(),
    log: silentLog,
    minor: 36,
    findParamResource: () => undefined,
    client: {
      post: () => Promise.reject(new Error('there is no webhook to call')),
      dispose: () => undefined,
    },
  });
