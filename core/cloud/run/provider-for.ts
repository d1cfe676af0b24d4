import type { InformerFactory } from '../../client/index.ts';
import type { ControllerContext } from '../../controllers/runtime/controller.ts';
import type { CloudSettings } from '../config/config.ts';
import { loopbackCloud } from '../loopback/loopback-cloud.ts';
import type { CloudProvider } from '../provider/provider.ts';

const PROVIDERS = { loopback: loopbackCloud } as const;

const made = new WeakMap<InformerFactory, CloudProvider>();

/** One cloud for all controllers of a leadership, which share their informers. */
export const providerFor = (context: ControllerContext, settings: CloudSettings): CloudProvider => {
  const known = made.get(context.informers);
  if (known) return known;
  const provider = PROVIDERS[settings['cloud-provider']](context, settings);
  made.set(context.informers, provider);
  return provider;
};
