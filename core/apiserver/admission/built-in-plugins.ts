import type { Clock } from '../../base/clock.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { releaseOf, type FeatureGates } from '../../api/releases/index.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { WebhookClient } from '../webhook/webhook-client.ts';
import type { AdmissionConfiguration } from './admission-configuration.ts';
import type { AdmissionPlugin } from './attributes.ts';
import type { DynamicAdmission } from './dynamic.ts';
import type { FindResource } from './kind-finder.ts';
import type { ObjectReader, QuotaWriter } from '../storage/object-reader.ts';
import { alwaysPullImages } from './plugins/always-pull-images.ts';
import { alwaysAdmit, alwaysDeny } from './plugins/always.ts';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './plugins/certificates.ts';
import { defaultIngressClass, defaultStorageClass } from './plugins/default-classes.ts';
import {
  defaultTolerationSeconds,
  type DefaultTolerationSecondsOptions,
} from './plugins/default-toleration-seconds.ts';
import { denyServiceExternalIPs } from './plugins/deny-service-external-ips.ts';
import { eventRateLimit } from './plugins/event-rate-limit.ts';
import { extendedResourceToleration } from './plugins/extended-resource-toleration.ts';
import { imagePolicyWebhook } from './plugins/image-policy-webhook.ts';
import { limitPodHardAntiAffinityTopology } from './plugins/limit-pod-hard-anti-affinity-topology.ts';
import { limitRanger } from './plugins/limit-ranger/limit-ranger.ts';
import { namespaceAutoProvision, type CreateNamespace } from './plugins/namespace-auto-provision.ts';
import { namespaceExists } from './plugins/namespace-exists.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts';
import { nodeDeclaredFeatureValidator } from './plugins/node-declared-feature-validator.ts';
import { nodeRestriction } from './plugins/node-restriction/node-restriction.ts';
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references-permission-enforcement.ts';
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts';
import { podNodeSelector } from './plugins/pod-node-selector.ts';
import { podResizeValidator } from './plugins/pod-resize-validator.ts';
import { podSecurity } from './plugins/pod-security/pod-security.ts';
import { podTolerationRestriction } from './plugins/pod-toleration-restriction.ts';
import { podTopologyLabels } from './plugins/pod-topology-labels.ts';
import { priority } from './plugins/priority.ts';
import { resourceQuota } from './plugins/resource-quota/resource-quota.ts';
import { runtimeClass } from './plugins/runtime-class.ts';
import { serviceAccount } from './plugins/service-account/service-account.ts';
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts';
import type { PluginName } from './selection.ts';

/** All that the plugins together need of the server. */
export interface PluginDependencies {
  readonly reader: ObjectReader;
  readonly quotaWriter: QuotaWriter;
  readonly authorizer: Authorizer;
  /** Webhooks and policies. */
  readonly dynamic: Pick<DynamicAdmission, 'plugins'>;
  readonly clock: Clock;
  readonly random: Random;
  /** The release `1.<minor>` that is emulated. */
  readonly minor: number;
  readonly gates: FeatureGates;
  readonly tolerationSeconds?: DefaultTolerationSecondsOptions | undefined;
  readonly webhooks: WebhookClient;
  readonly createNamespace: CreateNamespace;
  /** Where owners of a kind are served. */
  readonly findResource: FindResource;
  /** Of --admission-control-config-file. */
  readonly configuration: AdmissionConfiguration;
}

/** A plugin that the emulated release has behind a feature gate that is off, or does not have. */
const inactive = (name: PluginName): AdmissionPlugin => ({ name, handles: () => false });

const FACTORIES: Readonly<Record<PluginName, (server: PluginDependencies) => AdmissionPlugin>> = {
  AlwaysAdmit: () => alwaysAdmit(),
  NamespaceAutoProvision: ({ reader, createNamespace }) => namespaceAutoProvision(reader, createNamespace),
  LimitPodHardAntiAffinityTopology: () => limitPodHardAntiAffinityTopology(),
  NamespaceLifecycle: ({ reader, clock }) => namespaceLifecycle(reader, clock),
  NamespaceExists: ({ reader }) => namespaceExists(reader),
  LimitRanger: ({ reader }) => limitRanger(reader),
  ServiceAccount: serviceAccount,
  NodeRestriction: nodeRestriction,
  TaintNodesByCondition: () => taintNodesByCondition(),
  AlwaysPullImages: () => alwaysPullImages(),
  PodSecurity: podSecurity,
  ImagePolicyWebhook: ({ webhooks, clock, configuration: { imagePolicy } }) => {
    if (!imagePolicy)
      throw new ReasonError(
        'BadConfiguration',
        'admission plugin ImagePolicyWebhook: no config specified (--admission-control-config-file)',
      );
    return imagePolicyWebhook(webhooks, clock, imagePolicy);
  },
  PodNodeSelector: ({ reader, configuration }) => podNodeSelector(reader, configuration.podNodeSelector),
  PodTolerationRestriction: ({ reader, configuration }) =>
    podTolerationRestriction(reader, configuration.podTolerationRestriction),
  EventRateLimit: ({ clock, configuration }) => eventRateLimit(clock, configuration.eventRateLimit ?? []),
  OwnerReferencesPermissionEnforcement: ({ authorizer, findResource }) =>
    ownerReferencesPermissionEnforcement(authorizer, findResource),
  ClusterTrustBundleAttest: ({ authorizer }) => clusterTrustBundleAttest(authorizer),
  DenyServiceExternalIPs: () => denyServiceExternalIPs(),
  PodTopologyLabels: ({ reader, gates }) =>
    gates.isEnabled('PodTopologyLabelsAdmission') ? podTopologyLabels(reader) : inactive('PodTopologyLabels'),
  NodeDeclaredFeatureValidator: ({ reader, gates }) =>
    gates.isEnabled('NodeDeclaredFeatures')
      ? nodeDeclaredFeatureValidator(reader)
      : inactive('NodeDeclaredFeatureValidator'),
  // Behind gates that are off in every emulated release: their kinds are not served.
  PodGroupProtection: () => inactive('PodGroupProtection'),
  PodGroupWorkloadExists: () => inactive('PodGroupWorkloadExists'),
  JobValidation: () => inactive('JobValidation'),
  PodResizeValidator: ({ reader, minor }) =>
    releaseOf(minor).has('podResizeValidator') ? podResizeValidator(reader) : inactive('PodResizeValidator'),
  Priority: ({ reader }) => priority(reader),
  DefaultTolerationSeconds: ({ tolerationSeconds }) => defaultTolerationSeconds(tolerationSeconds),
  ExtendedResourceToleration: () => extendedResourceToleration(),
  DefaultStorageClass: ({ reader }) => defaultStorageClass(reader),
  StorageObjectInUseProtection: () => storageObjectInUseProtection(),
  PersistentVolumeClaimResize: ({ reader }) => persistentVolumeClaimResize(reader),
  RuntimeClass: ({ reader }) => runtimeClass(reader),
  CertificateApproval: ({ authorizer }) => certificateApproval(authorizer),
  CertificateSigning: ({ authorizer }) => certificateSigning(authorizer),
  CertificateSubjectRestriction: () => certificateSubjectRestriction(),
  DefaultIngressClass: ({ reader }) => defaultIngressClass(reader),
  MutatingAdmissionPolicy: ({ dynamic, gates }) =>
    gates.isEnabled('MutatingAdmissionPolicy')
      ? dynamic.plugins.MutatingAdmissionPolicy
      : inactive('MutatingAdmissionPolicy'),
  ValidatingAdmissionPolicy: ({ dynamic }) => dynamic.plugins.ValidatingAdmissionPolicy,
  MutatingAdmissionWebhook: ({ dynamic }) => dynamic.plugins.MutatingAdmissionWebhook,
  ValidatingAdmissionWebhook: ({ dynamic }) => dynamic.plugins.ValidatingAdmissionWebhook,
  ResourceQuota: ({ reader, quotaWriter, clock }) => resourceQuota({ reader, writer: quotaWriter, clock }),
  AlwaysDeny: () => alwaysDeny(),
};

/** The plugins of these names, in their order. */
export const builtInPlugins = (
  names: readonly PluginName[],
  server: PluginDependencies,
): readonly AdmissionPlugin[] => names.map((name) => FACTORIES[name](server));
