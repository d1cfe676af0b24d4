import { GATE_TABLE } from './gate-table.ts';

/** The minors of Kubernetes that this control plane emulates. */
export const OLDEST_MINOR = 34;
export const NEWEST_MINOR = 36;

/** Kinds that came after the oldest release, as `group/version Kind`. */
const KINDS_SINCE: Readonly<Record<number, readonly string[]>> = {
  36: [
    'admissionregistration.k8s.io/v1 MutatingAdmissionPolicy',
    'admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding',
  ],
};

/**
 * Fields that the newest release has and an older one lacks, by the minor that brought them. An older release neither
 * publishes them nor takes them: they are unknown fields there. Types that came later need no line, because only new
 * fields lead to them. Source: the definitions that releases 1.34, 1.35 and 1.36 publish.
 */
const FIELDS_SINCE: Readonly<Record<number, readonly string[]>> = {
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

/** Changes of behaviour that no gate switches, by the minor that brought them. */
const CHANGES_SINCE = {
  /** Events of containers no longer repeat their name, and those of images tell of access. */
  shortContainerEvents: 35,
  /** The scheduler's rejections no longer name the taint. */
  rejectionsWithoutTaints: 35,
  /** A node is scored by how much the pod changes its balance, not by the balance it ends with. */
  balanceScoredByChange: 36,
  /** The admission plugin PodResizeValidator exists. */
  podResizeValidator: 36,
} as const;
export type Change = keyof typeof CHANGES_SINCE;

export type GateStage = 'ALPHA' | 'BETA' | 'GA' | 'DEPRECATED';

export interface GateSpec {
  readonly stage: GateStage;
  readonly isDefault: boolean;
  readonly isLocked: boolean;
}

/** One emulated release: everything in which releases differ is asked here. */
export interface Release {
  readonly minor: number;
  /** `v1.36.0` */
  readonly version: string;
  /** `apps/v1 Deployment`. */
  hasKind(kind: string): boolean;
  /** Of a type that it knows: `core.v1.PodSpec`, `schedulingGroup`. */
  hasField(typeId: string, field: string): boolean;
  has(change: Change): boolean;
  /** By name; those that the release does not have yet are undefined. */
  readonly gates: ReadonlyMap<string, GateSpec | undefined>;
}

const sinceOf = (table: Readonly<Record<number, readonly string[]>>): ReadonlyMap<string, number> =>
  new Map(Object.entries(table).flatMap(([minor, names]) => names.map((name) => [name, Number(minor)])));
const sinceOfKind = sinceOf(KINDS_SINCE);
const sinceOfField = sinceOf(FIELDS_SINCE);

const STAGES: Readonly<Record<string, GateStage>> = { a: 'ALPHA', b: 'BETA', g: 'GA', d: 'DEPRECATED' };

const specIn = (entries: readonly string[], minor: number): GateSpec | undefined => {
  const entry = entries.findLast((one) => Number(one.slice(0, 2)) <= minor)?.slice(2);
  if (entry === undefined) return undefined;
  const letter = entry[0]!.toLowerCase();
  return { stage: STAGES[letter]!, isDefault: entry[0] !== letter, isLocked: entry.endsWith('!') };
};

const gatesOf = (minor: number): ReadonlyMap<string, GateSpec | undefined> =>
  new Map(
    GATE_TABLE.trim()
      .split('\n')
      .map((line) => {
        const [name = '', ...entries] = line.split(' ');
        return [name, specIn(entries, minor)];
      }),
  );

const makeRelease = (minor: number): Release => {
  let gates: Release['gates'] | undefined;
  return {
    minor,
    version: `v1.${minor}.0`,
    hasKind: (kind) => (sinceOfKind.get(kind) ?? 0) <= minor,
    hasField: (typeId, field) => (sinceOfField.get(`${typeId}.${field}`) ?? 0) <= minor,
    has: (change) => CHANGES_SINCE[change] <= minor,
    get gates() {
      return (gates ??= gatesOf(minor));
    },
  };
};

const releases = new Map<number, Release>();

/** The release of a minor; one that is not emulated is taken for the nearest that is. */
export const releaseOf = (minor: number): Release => {
  const nearest = Math.min(NEWEST_MINOR, Math.max(OLDEST_MINOR, minor));
  let release = releases.get(nearest);
  if (!release) releases.set(nearest, (release = makeRelease(nearest)));
  return release;
};

/** `v1.36.0`: patch releases are upstream's affair, each emulated minor is its first. */
export const NEWEST_RELEASE = releaseOf(NEWEST_MINOR).version;

/** Of `v1.36.0`; undefined for what is no version of Kubernetes. */
export const releaseOfVersion = (version: string): Release | undefined => {
  const minor = /^v1\.(\d+)\./.exec(version)?.[1];
  return minor === undefined ? undefined : releaseOf(Number(minor));
};

/** `package.version.Kind.field`, for the test that holds the table against the models. */
export const fieldsWithSince = (): readonly string[] => [...sinceOfField.keys()];
export const kindsWithSince = (): readonly string[] => [...sinceOfKind.keys()];
