import type { Clock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { Registry } from '../../../base/metrics/index.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import { createDynamicAdmission, type DynamicAdmission } from '../dynamic.ts';
import type { PluginDependencies } from '../built-in-plugins.ts';
import type { ObjectReader } from '../object-reader.ts';

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
    client: {
      post: () => Promise.reject(new Error('there is no webhook to call')),
      dispose: () => undefined,
    },
  });

/** What plugins need of a server that is not the subject of a test. */
export const idlePluginParts = (
  ...args: Parameters<typeof idleDynamicAdmission>
): Pick<PluginDependencies, 'dynamic' | 'createNamespace' | 'findResource' | 'configuration'> => ({
  dynamic: idleDynamicAdmission(...args),
  createNamespace: () => Promise.reject(new Error('no namespace is created here')),
  findResource: () => Promise.resolve(undefined),
  configuration: {},
});
