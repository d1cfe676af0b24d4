import type { Clock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { Registry } from '../../../base/metrics/index.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { WebhookClient } from '../../webhook/webhook-client.ts';
import { createDynamicAdmission, type DynamicAdmission } from '../dynamic.ts';
import type { PluginDependencies } from '../built-in-plugins.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';

const NO_WEBHOOKS: WebhookClient = {
  post: () => Promise.reject(new Error('there is no webhook to call')),
  dispose: () => undefined,
};

/** Webhooks and policies of a server that has none. */
const idleDynamicAdmission = (reader: ObjectReader, authorizer: Authorizer, clock: Clock): DynamicAdmission =>
  createDynamicAdmission({
    reader,
    authorizer,
    clock,
    metrics: new Registry(),
    log: silentLog,
    minor: 36,
    findResource: () => Promise.resolve(undefined),
    convertCustom: (objects) => Promise.resolve(objects),
    client: NO_WEBHOOKS,
  });

/** What plugins need of a server that is not the subject of a test. */
export const idlePluginParts = (
  ...args: Parameters<typeof idleDynamicAdmission>
): Pick<
  PluginDependencies,
  'dynamic' | 'webhooks' | 'createNamespace' | 'findResource' | 'configuration'
> => ({
  dynamic: idleDynamicAdmission(...args),
  webhooks: NO_WEBHOOKS,
  createNamespace: () => Promise.reject(new Error('no namespace is created here')),
  findResource: () => Promise.resolve(undefined),
  configuration: {},
});
