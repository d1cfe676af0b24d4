import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { Log } from '../../base/log.ts';
import type { Registry } from '../../base/metrics/index.ts';
import { wait } from '../../base/wait.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Follower, InternalInformer } from '../informer/internal-informer.ts';
import type { WebhookClient } from '../webhook/webhook-client.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './attributes.ts';
import type { FindResource } from './kind-finder.ts';
import type { ConvertCustom, ObjectReader } from '../storage/object-reader.ts';
import { createPolicyMetrics } from './policies/metrics.ts';
import { mutatingPolicies } from './policies/mutating-policies.ts';
import type { PolicyPluginOptions } from './policies/policy-plugin.ts';
import { policyStatusFollower } from './policies/policy-status.ts';
import { PolicyTable } from './policies/policy-table.ts';
import { validatingPolicies } from './policies/validating-policies.ts';
import { refusal } from './refusal.ts';
import { createHookMatcher } from './webhooks/hook-matching.ts';
import { HookTable } from './webhooks/hook-source.ts';
import { createWebhookMetrics, type HookType } from './webhooks/metrics.ts';
import { mutatingWebhooks } from './webhooks/mutating-webhooks.ts';
import { validatingWebhooks, type WebhookPluginOptions } from './webhooks/validating-webhooks.ts';

const GROUP = 'admissionregistration.k8s.io';
/** How long a request waits for configurations to be known, as upstream. */
const READY_WAIT_MS = 10_000;

export type DynamicPluginName =
  | 'MutatingAdmissionPolicy'
  | 'MutatingAdmissionWebhook'
  | 'ValidatingAdmissionPolicy'
  | 'ValidatingAdmissionWebhook';

export interface DynamicAdmissionOptions {
  readonly reader: ObjectReader;
  readonly authorizer: Authorizer;
  readonly client: WebhookClient;
  readonly findResource: FindResource;
  /** Parameters of policies are seen in the version that the policy names. */
  readonly convertCustom: ConvertCustom;
  /** The minor of Kubernetes that is emulated. */
  readonly minor: number;
  /** Writes the status of a ValidatingAdmissionPolicy; without it policies are not type-checked. */
  readonly writePolicyStatus?: (policy: KubernetesObject) => Promise<void>;
  readonly clock: Clock;
  readonly metrics: Registry;
  readonly log: Log;
}

/** The plugins whose rules are objects: webhooks and policies. */
export interface DynamicAdmission {
  readonly plugins: Readonly<Record<DynamicPluginName, AdmissionPlugin>>;
  /** Begins to follow the objects. Requests wait until those that are there are known. */
  follow(informer: InternalInformer): Disposable & { readonly ready: Promise<void> };
}

export const createDynamicAdmission = (options: DynamicAdmissionOptions): DynamicAdmission => {
  const { clock } = options;
  const metrics = createWebhookMetrics(options.metrics);
  const tables = { admit: new HookTable(), validating: new HookTable() };
  const policyTables = { mutating: new PolicyTable(), validating: new PolicyTable() };
  /** Until something is followed there is nothing to wait for. */
  let loading: Promise<void> | undefined;

  const settled = async (attributes: AdmissionAttributes): Promise<void> => {
    await Promise.race([loading, wait(clock, READY_WAIT_MS, attributes.signal)]);
    if (loading) throw refusal(attributes, 'not yet ready to handle request');
  };
  const gated = (plugin: AdmissionPlugin): AdmissionPlugin => ({
    name: plugin.name,
    handles: (operation) => plugin.handles(operation),
    ...(plugin.admit && {
      admit: (attributes) =>
        loading ? settled(attributes).then(() => plugin.admit?.(attributes)) : plugin.admit?.(attributes),
    }),
    ...(plugin.validate && {
      validate: (attributes) =>
        loading
          ? settled(attributes).then(() => plugin.validate?.(attributes))
          : plugin.validate?.(attributes),
    }),
  });

  const webhooks = (type: HookType): WebhookPluginOptions => ({
    ...options,
    metrics,
    source: tables[type],
    matcher: createHookMatcher({ ...options, metrics, type }),
  });
  const policies = (kind: 'mutating' | 'validating'): PolicyPluginOptions => ({
    ...options,
    table: policyTables[kind],
    metrics: createPolicyMetrics(options.metrics, kind),
    conditionMetrics: metrics,
  });
  return {
    plugins: {
      MutatingAdmissionPolicy: gated(mutatingPolicies(policies('mutating'))),
      ValidatingAdmissionPolicy: gated(validatingPolicies(policies('validating'))),
      MutatingAdmissionWebhook: gated(mutatingWebhooks(webhooks('admit'))),
      ValidatingAdmissionWebhook: gated(validatingWebhooks(webhooks('validating'))),
    },
    follow(informer) {
      const owned = new DisposableStore();
      const follow = (resource: string, follower: Follower): Promise<void> =>
        owned.add(informer.follow({ group: GROUP, resource }, follower)).ready;
      const { writePolicyStatus: write } = options;
      if (write) void follow('validatingadmissionpolicies', policyStatusFollower({ ...options, write }));
      const ready = Promise.all([
        follow('mutatingwebhookconfigurations', tables.admit),
        follow('validatingwebhookconfigurations', tables.validating),
        follow('mutatingadmissionpolicies', policyTables.mutating.policies),
        follow('mutatingadmissionpolicybindings', policyTables.mutating.bindings),
        follow('validatingadmissionpolicies', policyTables.validating.policies),
        follow('validatingadmissionpolicybindings', policyTables.validating.bindings),
      ]).then(() => {
        loading = undefined;
      });
      loading = ready;
      return { ready, dispose: () => owned.dispose() };
    },
  };
};
