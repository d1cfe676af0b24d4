/**
 * Fields that the newest release has and an older one lacks, by the minor that brought them. An older release neither
 * publishes them nor takes them: they are unknown fields there. Types that came later need no line, because only new
 * fields lead to them. Source: the definitions that releases 1.34, 1.35 and 1.36 publish.
 */
const FIELDS_SINCE: Readonly<Record<string, readonly string[]>> = {
  35: [
    'apiextensions.v1.CustomResourceDefinitionCondition.observedGeneration',
    'apiextensions.v1.CustomResourceDefinitionStatus.observedGeneration',
    'core.v1.NodeStatus.declaredFeatures',
    'core.v1.PodCertificateProjection.userAnnotations',
    'core.v1.PodStatus.allocatedResources',
    'core.v1.PodStatus.resources',
    'storage.v1.CSIDriverSpec.serviceAccountTokenInSecrets',
  ],
  36: [
    'core.v1.PodSpec.schedulingGroup',
    'core.v1.PodStatus.nodeAllocatableResourceClaimStatuses',
    'core.v1.ResourceHealth.message',
    'core.v1.VolumeMountStatus.volumeStatus',
    'meta.v1.ListMeta.shardInfo',
    'resource.v1.Device.nodeAllocatableResourceMappings',
    'resource.v1.DeviceAttribute.bools',
    'resource.v1.DeviceAttribute.ints',
    'resource.v1.DeviceAttribute.strings',
    'resource.v1.DeviceAttribute.versions',
    'storage.v1.CSIDriverSpec.preventPodSchedulingIfMissing',
  ],
};

const sinceOfField = new Map(
  Object.entries(FIELDS_SINCE).flatMap(([minor, fields]) =>
    fields.map((field) => [field, Number(minor)] as const),
  ),
);

/** From here on nothing differs from the newest. */
export const NEWEST_DIFFERING_MINOR = Math.max(...sinceOfField.values());

/** Whether a release knows a field of a type that it knows. */
export const isFieldKnown = (typeId: string, field: string, minor: number): boolean =>
  (sinceOfField.get(`${typeId}.${field}`) ?? 0) <= minor;

/** `package.version.Kind.field`, for the test that holds the table against the models. */
export const fieldsWithSince = (): readonly string[] => [...sinceOfField.keys()];
