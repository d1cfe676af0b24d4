import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { builtInPlugins } from '../admission/built-in-plugins.ts';
import { createAdmissionChain } from '../admission/chain.ts';
import { createDynamicAdmission, type DynamicAdmission } from '../admission/dynamic.ts';
import { selectPlugins } from '../admission/selection.ts';
import type { ConvertCustom } from '../storage/object-reader.ts';
import type { loadAdmissionConfiguration } from '../admission/admission-configuration.ts';
import { createKindFinder } from '../admission/kind-finder.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { ObjectWriter } from '../bootstrap/index.ts';
import type { ObjectRegistry } from '../registry/create-registry.ts';
import { createServiceResolver } from '../webhook/service-resolver.ts';
import { createWebhookClient, type WebhookClient } from '../webhook/webhook-client.ts';
import type { Surroundings } from './surroundings.ts';

export interface ObjectAdmissionParts {
  readonly registry: ObjectRegistry;
  readonly writer: ObjectWriter;
  readonly authorizer: Authorizer;
  readonly configuration: Awaited<ReturnType<typeof loadAdmissionConfiguration>>;
  readonly convertCustom: ConvertCustom;
}

export interface ObjectAdmission extends Disposable {
  readonly chain: ReturnType<typeof createAdmissionChain>;
  readonly dynamic: DynamicAdmission;
  /** Also calls conversion webhooks. */
  readonly webhooks: WebhookClient;
}

const POLICIES = { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' };
const NAMESPACES = { group: '', resource: 'namespaces' };

/** Every admission plugin that the flags select, over the objects of the registry. */
export const createObjectAdmission = (
  { config, metrics, clock, random, log }: Surroundings,
  { registry, writer, authorizer, configuration, convertCustom }: ObjectAdmissionParts,
): ObjectAdmission => {
  const { reader, quotaWriter } = registry;
  const { minor, gates, advertiseAddress } = config;
  const { enabled, disabled, notReadySeconds, unreachableSeconds } = config.admission;
  const owned = new DisposableStore();
  const webhooks = owned.add(
    createWebhookClient({ clock, resolve: createServiceResolver({ reader, random, advertiseAddress }) }),
  );
  const findResource = createKindFinder(minor, reader);
  const dynamic = createDynamicAdmission({
    reader,
    authorizer,
    client: webhooks,
    findResource,
    convertCustom,
    minor,
    writePolicyStatus: async (policy) => {
      await writer.update(POLICIES, policy, 'status');
    },
    clock,
    metrics,
    log,
  });
  const plugins = builtInPlugins(selectPlugins(enabled, disabled), {
    reader,
    quotaWriter,
    authorizer,
    dynamic,
    webhooks,
    createNamespace: async (name) => {
      await writer.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    },
    findResource,
    configuration,
    clock,
    random,
    minor,
    gates,
    tolerationSeconds: { notReadySeconds, unreachableSeconds },
  });
  const chain = createAdmissionChain(plugins, { clock, metrics });
  return { chain, dynamic, webhooks, dispose: () => owned.dispose() };
};
