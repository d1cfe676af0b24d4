import { ReasonError } from '../../base/errors.ts';
import { goQuote } from '../../api/field/go-text.ts';

/** Every plugin there is, in upstream's order: defaults are set before what judges them, quota is charged last. */
export const PLUGIN_ORDER = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodSecurity',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PodGroupProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DenyServiceExternalIPs',
  'PodTopologyLabels',
  'PodGroupWorkloadExists',
  'NodeDeclaredFeatureValidator',
  'JobValidation',
  'PodResizeValidator',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
] as const;

export type PluginName = (typeof PLUGIN_ORDER)[number];

const DEFAULT_OFF: ReadonlySet<string> = new Set<PluginName>([
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'NodeRestriction',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodNodeSelector',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'OwnerReferencesPermissionEnforcement',
  'DenyServiceExternalIPs',
  'AlwaysDeny',
]);

export const DEFAULT_PLUGINS: readonly PluginName[] = PLUGIN_ORDER.filter((name) => !DEFAULT_OFF.has(name));

const KNOWN: ReadonlySet<string> = new Set(PLUGIN_ORDER);

/** What --enable-admission-plugins and --disable-admission-plugins leave, in order. */
export const selectPlugins = (
  enabled: readonly string[],
  disabled: readonly string[],
): readonly PluginName[] => {
  const wrong = [
    ...enabled
      .filter((name) => !KNOWN.has(name))
      .map((name) => `enable-admission-plugins plugin ${goQuote(name)} is unknown`),
    ...disabled
      .filter((name) => !KNOWN.has(name))
      .map((name) => `disable-admission-plugins plugin ${goQuote(name)} is unknown`),
  ];
  const both = [...new Set(enabled.filter((name) => disabled.includes(name)))].sort();
  if (both.length > 0)
    wrong.push(`[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`);
  if (wrong.length > 0)
    throw new ReasonError('PluginSelectionInvalid', wrong.length === 1 ? wrong[0]! : `[${wrong.join(', ')}]`);
  return PLUGIN_ORDER.filter(
    (name) => enabled.includes(name) || (!DEFAULT_OFF.has(name) && !disabled.includes(name)),
  );
};
