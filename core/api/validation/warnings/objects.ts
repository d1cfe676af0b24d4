import { isDns1123Label } from '../../field/formats.ts';
import { child, index, key, NO_PATH } from '../../field/field-path.ts';
import { groupKindText, type GroupKind } from '../../meta/group-version.ts';
import { has, int, num, obj, objs, quantities, sameValue, str, strMap, strs, type Obj } from '../read.ts';
import { claimSpecWarnings } from './claims.ts';
import { deprecatedLabel, nodeSelectorTermWarnings } from './node-labels.ts';
import { podWarnings } from './pod.ts';

/** `before` is absent where the object is created; `minor` is the release that is emulated. */
type KindWarnings = (object: Obj, before: Obj | undefined, minor: number) => readonly string[];

/** The releases that first said so. */
const SINCE = { externalIps: 36, preferClose: 35, tokensInSecrets: 35 };

const POD_HOSTNAME =
  "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
const POD_NAMES =
  'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
const NEGATIVE_HISTORY =
  'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended';
const TOO_MANY_INDEXES =
  'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
const COMPLETIONS_SOFT_MAX = 100_000;
const PARALLELISM_SOFT_MAX = 10_000;
const TOKENS_IN_ATTRIBUTES =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';
const STORAGE_CLASS = 'volume.beta.kubernetes.io/storage-class';
const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options';
const STORAGE_CLASS_MESSAGE = 'deprecated since v1.8; use "storageClassName" attribute instead';
const INGRESS_CLASS = 'kubernetes.io/ingress.class';
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints';
const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode';

const annotationsOf = (object: Obj): Readonly<Record<string, string>> =>
  strMap(obj(object, 'metadata'), 'annotations');

const annotationWarning = (object: Obj, annotation: string, message: string): string[] =>
  annotationsOf(object)[annotation] === undefined
    ? []
    : [`${key('metadata.annotations', annotation)}: ${message}`];

const nameWarnings = (object: Obj, warning: string): string[] => {
  const wrong = isDns1123Label(str(obj(object, 'metadata'), 'name'));
  return wrong.length > 0 ? [`${warning}: [${wrong.join(' ')}]`] : [];
};

/** An update that changes no spec says nothing of it. */
const isSameSpec = (object: Obj, before: Obj | undefined): boolean =>
  before !== undefined && sameValue(object['spec'], before['spec']);

const ofTemplate =
  (isNameUsed: boolean): KindWarnings =>
  (object, before) => [
    ...(isNameUsed && !before ? nameWarnings(object, POD_NAMES) : []),
    ...(isSameSpec(object, before)
      ? []
      : podWarnings('spec.template', obj(obj(object, 'spec'), 'template'), true)),
  ];

const jobWarnings = (path: string, spec: Obj): string[] => [
  ...(str(spec, 'completionMode') === 'Indexed' &&
  int(spec, 'completions') > COMPLETIONS_SOFT_MAX &&
  int(spec, 'parallelism') > PARALLELISM_SOFT_MAX
    ? [`${path}: ${TOO_MANY_INDEXES}`]
    : []),
  ...podWarnings(child(path, 'template'), obj(spec, 'template'), true),
];

const cronJobWarnings: KindWarnings = (object, before) => {
  const spec = obj(object, 'spec');
  const usesZone = before !== undefined && str(spec, 'schedule').includes('TZ');
  return [
    ...(before ? [] : nameWarnings(object, POD_NAMES)),
    ...(isSameSpec(object, before)
      ? []
      : jobWarnings('spec.jobTemplate.spec', obj(obj(spec, 'jobTemplate'), 'spec'))),
    ...(usesZone
      ? [
          'cannot use TZ or CRON_TZ in spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
        ]
      : []),
  ];
};

const statefulSetWarnings: KindWarnings = (object, before, minor) => {
  const spec = obj(object, 'spec');
  return [
    ...ofTemplate(false)(object, before, minor),
    ...objs(spec, 'volumeClaimTemplates').flatMap((claim, at) => {
      const path = index('spec.volumeClaimTemplates', at);
      return claimSpecWarnings(before ? child(path, 'Spec') : path, obj(claim, 'spec'));
    }),
    ...((num(spec, 'revisionHistoryLimit') ?? 0) < 0 ? [NEGATIVE_HISTORY] : []),
  ];
};

const serviceWarnings: KindWarnings = (object, _before, minor) => {
  const spec = obj(object, 'spec');
  const type = str(spec, 'type');
  const isHeadless = type === 'ClusterIP' && str(spec, 'clusterIP') === 'None';
  const isExternal = type === 'ExternalName';
  const hasExternalIps = strs(spec, 'externalIPs').length > 0;
  const told: readonly (readonly [boolean, string])[] = [
    [
      annotationsOf(object)[TOPOLOGY_HINTS] !== undefined,
      `annotation ${TOPOLOGY_HINTS} is deprecated, please use ${TOPOLOGY_MODE} instead`,
    ],
    [
      isHeadless && str(spec, 'loadBalancerIP') !== '',
      'spec.loadBalancerIP is ignored for headless services',
    ],
    [isHeadless && hasExternalIps, 'spec.externalIPs is ignored for headless services'],
    [
      isHeadless && str(spec, 'sessionAffinity') !== 'None',
      'spec.SessionAffinity is ignored for headless services',
    ],
    [
      minor >= SINCE.externalIps && hasExternalIps && !isHeadless && !isExternal,
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    ],
    [isExternal && hasExternalIps, 'spec.externalIPs is ignored when spec.type is "ExternalName"'],
    [
      !isExternal && str(spec, 'externalName') !== '',
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ],
    [
      minor >= SINCE.preferClose && str(spec, 'trafficDistribution') === 'PreferClose',
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ],
  ];
  return told.filter(([isTold]) => isTold).map(([, text]) => text);
};

const volumeWarnings: KindWarnings = (object) => {
  const spec = obj(object, 'spec');
  const terms = 'spec.nodeAffinity.required.nodeSelectorTerms';
  return [
    ...annotationWarning(object, STORAGE_CLASS, STORAGE_CLASS_MESSAGE),
    ...annotationWarning(
      object,
      MOUNT_OPTIONS,
      'deprecated since v1.31; use "mountOptions" attribute instead',
    ),
    ...(str(spec, 'persistentVolumeReclaimPolicy') === 'Recycle'
      ? [
          'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
        ]
      : []),
    ...objs(obj(obj(spec, 'nodeAffinity'), 'required'), 'nodeSelectorTerms').flatMap((term, at) =>
      nodeSelectorTermWarnings(index(terms, at), term, { checksValues: false }),
    ),
  ];
};

const quotaWarnings: KindWarnings = (object, before) => {
  const hard = new Map(quantities(obj(object, 'spec'), 'hard'));
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((resource) => {
    const requests = `requests.${resource}`;
    const hasPlain = resource === 'cpu' || resource === 'memory';
    const plain = hasPlain && !hard.has(requests) ? resource : requests;
    const [request, limit] = [hard.get(plain), hard.get(`limits.${resource}`)];
    return before === undefined && request && limit && request.compare(limit) > 0
      ? [`ResourceQuota ${plain} (${request}) should be less than limits.${resource} (${limit})`]
      : [];
  });
};

const storageClassWarnings: KindWarnings = (object) =>
  objs(object, 'allowedTopologies').flatMap((topology, at) =>
    objs(topology, 'matchLabelExpressions').flatMap((expression, number) => {
      const message = deprecatedLabel(str(expression, 'key'));
      const path = index(child(index('allowedTopologies', at), 'matchLabelExpressions'), number);
      return message === undefined ? [] : [`${child(path, 'key')}: ${message}`];
    }),
  );

const csiDriverWarnings: KindWarnings = (object, before, minor) => {
  const spec = obj(object, 'spec');
  const tokens = spec['tokenRequests'];
  const isSame = before !== undefined && sameValue(tokens, obj(before, 'spec')['tokenRequests']);
  const isTold =
    minor >= SINCE.tokensInSecrets &&
    !isSame &&
    objs(spec, 'tokenRequests').length > 0 &&
    !has(spec, 'serviceAccountTokenInSecrets');
  return isTold ? [TOKENS_IN_ATTRIBUTES] : [];
};

const WARNINGS: ReadonlyMap<string, KindWarnings> = new Map<string, KindWarnings>([
  [
    'Pod',
    (object, before) =>
      before ? [] : [...nameWarnings(object, POD_HOSTNAME), ...podWarnings(NO_PATH, object, false)],
  ],
  [
    'PodTemplate',
    (object, before) =>
      before && sameValue(object['template'], before['template'])
        ? []
        : podWarnings('template', obj(object, 'template'), true),
  ],
  ['ReplicationController', ofTemplate(true)],
  ['Deployment.apps', ofTemplate(true)],
  ['ReplicaSet.apps', ofTemplate(true)],
  ['DaemonSet.apps', ofTemplate(false)],
  ['StatefulSet.apps', statefulSetWarnings],
  [
    'Job.batch',
    (object, before) => [
      ...(before ? [] : nameWarnings(object, POD_NAMES)),
      ...(isSameSpec(object, before) ? [] : jobWarnings('spec', obj(object, 'spec'))),
    ],
  ],
  ['CronJob.batch', cronJobWarnings],
  ['Service', serviceWarnings],
  [
    'Node',
    (object) => [
      ...(has(obj(object, 'spec'), 'configSource') ? ['spec.configSource: the feature is removed'] : []),
      ...(str(obj(object, 'spec'), 'externalID') === ''
        ? []
        : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
    ],
  ],
  ['ResourceQuota', quotaWarnings],
  ['PersistentVolume', volumeWarnings],
  [
    'PersistentVolumeClaim',
    (object) => [
      ...annotationWarning(object, STORAGE_CLASS, STORAGE_CLASS_MESSAGE),
      ...claimSpecWarnings('spec', obj(object, 'spec')),
    ],
  ],
  ['StorageClass.storage.k8s.io', storageClassWarnings],
  ['CSIDriver.storage.k8s.io', csiDriverWarnings],
  [
    'RuntimeClass.node.k8s.io',
    (object) =>
      Object.keys(strMap(obj(object, 'scheduling'), 'nodeSelector')).flatMap((label) => {
        const message = deprecatedLabel(label);
        return message === undefined ? [] : [`scheduling.nodeSelector: ${message}`];
      }),
  ],
  [
    'Ingress.networking.k8s.io',
    (object, before) =>
      !before &&
      annotationsOf(object)[INGRESS_CLASS] !== undefined &&
      !has(obj(object, 'spec'), 'ingressClassName')
        ? [`annotation "${INGRESS_CLASS}" is deprecated, please use 'spec.ingressClassName' instead`]
        : [],
  ],
]);

/** What a client is told of an object that is valid: what is deprecated, ignored or surprising in it. */
export const objectWarnings = (
  kind: GroupKind,
  object: Obj,
  before: Obj | undefined,
  minor: number,
): readonly string[] => WARNINGS.get(groupKindText(kind))?.(object, before, minor) ?? [];
