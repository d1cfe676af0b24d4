import { ReasonError } from '../../../base/errors.ts';
import type { LabelSelectorObject } from '../../selector/label-selector.ts';
import { selectorFromObject, selectorFromSet } from '../../selector/label-selector.ts';
import {
  immutable,
  intOrPercentValue,
  label,
  labels,
  labelSelector,
  nonnegative,
  notMoreThan100Percent,
  positiveIntOrPercent,
} from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { forbidden, invalid, notSupported, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import type { NameCheck } from '../../field/formats.ts';
import { nameIsDnsLabel, nameIsDnsSubdomain } from '../../field/formats.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, int, isObj, maybeObj, num, obj, objs, str, strMap } from '../read.ts';
import type { KindRules } from '../rules.ts';
import { podTemplate } from './pod.ts';
import { persistentVolumeClaimSpec } from './storage.ts';
import type { StatusCounts } from './workload-status.ts';
import {
  DAEMON_SET_STATUS,
  DEPLOYMENT_STATUS,
  REPLICA_SET_STATUS,
  STATEFUL_SET_STATUS,
  statusErrors,
} from './workload-status.ts';

/** Deployments, ReplicaSets, StatefulSets, DaemonSets: a selector, a template, a strategy. */

const SELECTOR_MISMATCH = '`selector` does not match template `labels`';

/** Undefined when the selector cannot be read; what is wrong with it was said elsewhere. */
export function selectorMatches(selector: Obj | undefined, template: Obj): boolean | undefined {
  try {
    return selectorFromObject(selector as LabelSelectorObject | undefined).matches(
      strMap(obj(template, 'metadata'), 'labels'),
    );
  } catch (error) {
    if (error instanceof ReasonError) return undefined;
    throw error;
  }
}

const isEmptySelector = (selector: Obj): boolean =>
  Object.keys(strMap(selector, 'matchLabels')).length + objs(selector, 'matchExpressions').length === 0;

function selectorErrors(path: FieldPath, spec: Obj, kind: string): FieldError[] {
  const selector = maybeObj(spec, 'selector');
  const at = child(path, 'selector');
  if (selector === undefined) return [required(at)];
  return [
    ...labelSelector(at, selector),
    ...(isEmptySelector(selector) ? [invalid(at, selector, `empty selector is invalid for ${kind}`)] : []),
  ];
}

function templateOfSelector(path: FieldPath, spec: Obj): FieldError[] {
  const template = obj(spec, 'template');
  const selector = maybeObj(spec, 'selector');
  const matches = selectorMatches(selector, template);
  if (matches === undefined)
    return [invalid(child(path, 'selector'), spec['selector'], 'invalid label selector')];
  const isChecked = selector === undefined || !isEmptySelector(selector);
  return isChecked && !matches
    ? [
        invalid(
          child(path, 'template', 'metadata', 'labels'),
          maybeObj(obj(template, 'metadata'), 'labels') ?? null,
          SELECTOR_MISMATCH,
        ),
      ]
    : [];
}

/** Pods of a controller are made again when they end. */
function restartsAlways(path: FieldPath, spec: Obj, kind: string): FieldError[] {
  const podSpec = obj(obj(spec, 'template'), 'spec');
  const at = child(path, 'template', 'spec');
  return [
    ...(str(podSpec, 'restartPolicy') === 'Always'
      ? []
      : [notSupported(child(at, 'restartPolicy'), str(podSpec, 'restartPolicy'), ['Always'])]),
    ...(has(podSpec, 'activeDeadlineSeconds')
      ? [forbidden(child(at, 'activeDeadlineSeconds'), `activeDeadlineSeconds in ${kind} is not Supported`)]
      : []),
  ];
}

const counts = (path: FieldPath, spec: Obj, ...names: readonly string[]): FieldError[] =>
  names.flatMap((name) => nonnegative(child(path, name), num(spec, name)));

/** As upstream shows it: by the names of its Go fields, in their order. */
const goStrategy = (strategy: Obj): Obj => {
  const rolling = maybeObj(strategy, 'rollingUpdate');
  return {
    Type: str(strategy, 'type'),
    RollingUpdate: rolling
      ? { MaxUnavailable: rolling['maxUnavailable'] ?? 0, MaxSurge: rolling['maxSurge'] ?? 0 }
      : null,
  };
};

function deploymentStrategy(path: FieldPath, strategy: Obj): FieldError[] {
  const rolling = maybeObj(strategy, 'rollingUpdate');
  const at = child(path, 'rollingUpdate');
  switch (str(strategy, 'type')) {
    case 'Recreate':
      return rolling === undefined
        ? []
        : [forbidden(at, "may not be specified when strategy `type` is 'Recreate'")];
    case 'RollingUpdate': {
      if (rolling === undefined) return [required(at, 'this should be defaulted and never be nil')];
      const { maxUnavailable, maxSurge } = rolling;
      return [
        ...positiveIntOrPercent(child(at, 'maxUnavailable'), maxUnavailable),
        ...positiveIntOrPercent(child(at, 'maxSurge'), maxSurge),
        ...(intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0
          ? [invalid(child(at, 'maxUnavailable'), maxUnavailable, 'may not be 0 when `maxSurge` is 0')]
          : []),
        ...notMoreThan100Percent(child(at, 'maxUnavailable'), maxUnavailable),
      ];
    }
    default:
      return [notSupported(path, goStrategy(strategy), ['Recreate', 'RollingUpdate'])];
  }
}

function deploymentSpec(path: FieldPath, spec: Obj): FieldError[] {
  const progressSeconds = num(spec, 'progressDeadlineSeconds');
  return [
    ...counts(path, spec, 'replicas'),
    ...selectorErrors(path, spec, 'deployment'),
    ...templateOfSelector(path, spec),
    ...podTemplate(child(path, 'template'), obj(spec, 'template')),
    ...restartsAlways(path, spec, 'ReplicaSet'),
    ...deploymentStrategy(child(path, 'strategy'), obj(spec, 'strategy')),
    ...counts(path, spec, 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'),
    ...(progressSeconds !== undefined && progressSeconds <= int(spec, 'minReadySeconds')
      ? [
          invalid(
            child(path, 'progressDeadlineSeconds'),
            progressSeconds,
            'must be greater than minReadySeconds',
          ),
        ]
      : []),
  ];
}

const replicaSetSpec = (path: FieldPath, spec: Obj): FieldError[] => [
  ...counts(path, spec, 'replicas', 'minReadySeconds'),
  // Upstream says deployment here too.
  ...selectorErrors(path, spec, 'deployment'),
  ...templateOfSelector(path, spec),
  ...podTemplate(child(path, 'template'), obj(spec, 'template')),
  ...restartsAlways(path, spec, 'ReplicaSet'),
];

function daemonSetStrategy(path: FieldPath, strategy: Obj): FieldError[] {
  const type = str(strategy, 'type');
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate')
    return [notSupported(path, goStrategy(strategy), ['RollingUpdate', 'OnDelete'])];
  const rolling = maybeObj(strategy, 'rollingUpdate');
  const at = child(path, 'rollingUpdate');
  if (rolling === undefined) return [required(at)];
  const { maxUnavailable, maxSurge } = rolling;
  const [hasUnavailable, hasSurge] = [
    intOrPercentValue(maxUnavailable) !== 0,
    intOrPercentValue(maxSurge) !== 0,
  ];
  return [
    ...positiveIntOrPercent(child(at, 'maxUnavailable'), maxUnavailable),
    ...positiveIntOrPercent(child(at, 'maxSurge'), maxSurge),
    ...notMoreThan100Percent(child(at, 'maxUnavailable'), maxUnavailable),
    ...notMoreThan100Percent(child(at, 'maxSurge'), maxSurge),
    ...(hasUnavailable && hasSurge
      ? [invalid(child(at, 'maxSurge'), maxSurge, 'may not be set when maxUnavailable is non-zero')]
      : []),
    ...(!hasUnavailable && !hasSurge
      ? [required(child(at, 'maxUnavailable'), 'cannot be 0 when maxSurge is 0')]
      : []),
  ];
}

function daemonSetSpec(path: FieldPath, spec: Obj): FieldError[] {
  const selector = maybeObj(spec, 'selector');
  const template = obj(spec, 'template');
  return [
    ...labelSelector(child(path, 'selector'), selector),
    ...(selectorMatches(selector, template) === false
      ? [
          invalid(
            child(path, 'template', 'metadata', 'labels'),
            maybeObj(obj(template, 'metadata'), 'labels') ?? null,
            SELECTOR_MISMATCH,
          ),
        ]
      : []),
    ...(selector !== undefined && isEmptySelector(selector)
      ? [invalid(child(path, 'selector'), selector, 'empty selector is invalid for daemonset')]
      : []),
    ...podTemplate(child(path, 'template'), template),
    ...restartsAlways(path, spec, 'DaemonSet'),
    ...counts(path, spec, 'minReadySeconds', 'revisionHistoryLimit'),
    ...daemonSetStrategy(child(path, 'updateStrategy'), obj(spec, 'updateStrategy')),
  ];
}

function statefulSetStrategy(path: FieldPath, strategy: Obj): FieldError[] {
  const type = str(strategy, 'type');
  const rolling = maybeObj(strategy, 'rollingUpdate');
  const at = child(path, 'rollingUpdate');
  if (type === '') return [required(path)];
  if (type === 'OnDelete')
    return rolling === undefined
      ? []
      : [invalid(at, rolling, "only allowed for updateStrategy 'RollingUpdate'")];
  // Upstream prints its internal type, whose members have no names of JSON.
  const printed = { Type: type, RollingUpdate: rolling ?? null };
  if (type !== 'RollingUpdate') return [invalid(path, printed, "must be 'RollingUpdate' or 'OnDelete'")];
  if (rolling === undefined) return [];
  const errors = nonnegative(child(at, 'partition'), num(rolling, 'partition'));
  if (!has(rolling, 'maxUnavailable')) return errors;
  const { maxUnavailable } = rolling;
  return [
    ...errors,
    ...positiveIntOrPercent(child(at, 'maxUnavailable'), maxUnavailable),
    ...(intOrPercentValue(maxUnavailable) === 0
      ? [invalid(child(at, 'maxUnavailable'), maxUnavailable, 'cannot be 0')]
      : []),
    ...notMoreThan100Percent(child(at, 'maxUnavailable'), maxUnavailable),
  ];
}

function retentionPolicy(path: FieldPath, policy: Obj | undefined): FieldError[] {
  if (policy === undefined) return [];
  return ['whenDeleted', 'whenScaled'].flatMap((name) =>
    ['Retain', 'Delete'].includes(str(policy, name))
      ? []
      : [notSupported(child(path, name), str(policy, name), ['Retain', 'Delete'])],
  );
}

/** Mounts may name the claims of the set; they take the place of volumes of the same name. */
function withClaimVolumes(spec: Obj): Obj {
  const claims = objs(spec, 'volumeClaimTemplates').map((claim) => str(obj(claim, 'metadata'), 'name'));
  const template = obj(spec, 'template');
  const { hostname: _hostname, subdomain: _subdomain, ...podSpec } = obj(template, 'spec');
  const volumes = [
    ...claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    ...objs(podSpec, 'volumes').filter((volume) => !claims.includes(str(volume, 'name'))),
  ];
  return { ...template, spec: { ...podSpec, volumes } };
}

function statefulSetSpec(path: FieldPath, spec: Obj): FieldError[] {
  const policy = str(spec, 'podManagementPolicy');
  return [
    ...(policy === '' ? [required(child(path, 'podManagementPolicy'))] : []),
    ...(policy !== '' && policy !== 'OrderedReady' && policy !== 'Parallel'
      ? [invalid(child(path, 'podManagementPolicy'), policy, "must be 'OrderedReady' or 'Parallel'")]
      : []),
    ...statefulSetStrategy(child(path, 'updateStrategy'), obj(spec, 'updateStrategy')),
    ...retentionPolicy(
      child(path, 'persistentVolumeClaimRetentionPolicy'),
      maybeObj(spec, 'persistentVolumeClaimRetentionPolicy'),
    ),
    ...objs(spec, 'volumeClaimTemplates').flatMap((claim, i) =>
      persistentVolumeClaimSpec(
        child(index(child(path, 'volumeClaimTemplates'), i), 'spec'),
        obj(claim, 'spec'),
      ),
    ),
    ...counts(path, spec, 'replicas', 'minReadySeconds', 'revisionHistoryLimit'),
    ...nonnegative(child(path, 'ordinals.start'), num(obj(spec, 'ordinals'), 'start')),
    ...(str(spec, 'serviceName') === '' ? [] : label(child(path, 'serviceName'), str(spec, 'serviceName'))),
    ...selectorErrors(path, spec, 'statefulset'),
    ...templateOfSelector(path, spec),
    ...podTemplate(child(path, 'template'), withClaimVolumes(spec)),
    ...restartsAlways(path, spec, 'StatefulSet'),
  ];
}

const META = { namespaced: true, name: nameIsDnsSubdomain };

type SpecCheck = (path: FieldPath, spec: Obj) => FieldError[];

interface WorkloadRules {
  readonly name: NameCheck;
  readonly spec: SpecCheck;
  /** Fields of the spec that never change. */
  readonly frozen: readonly string[];
  readonly status: StatusCounts;
}

const workload = ({ name, spec: check, frozen, status }: WorkloadRules): KindRules => ({
  namespaced: true,
  name,
  create: (object) => [
    ...objectMeta(object, { namespaced: true, name }),
    ...check('spec', obj(object, 'spec')),
  ],
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...check('spec', obj(object, 'spec')),
    ...frozen.flatMap((field) =>
      immutable(child('spec', field), obj(object, 'spec')[field], obj(before, 'spec')[field]),
    ),
  ],
  subresources: { status: (object, before) => statusErrors(object, before, status) },
});

export const DeploymentRules = workload({
  name: nameIsDnsSubdomain,
  spec: deploymentSpec,
  frozen: ['selector'],
  status: DEPLOYMENT_STATUS,
});

export const ReplicaSetRules = workload({
  name: nameIsDnsSubdomain,
  spec: replicaSetSpec,
  frozen: ['selector'],
  status: REPLICA_SET_STATUS,
});

export const DaemonSetRules = workload({
  name: nameIsDnsSubdomain,
  spec: daemonSetSpec,
  frozen: ['selector'],
  status: DAEMON_SET_STATUS,
});

export const StatefulSetRules = workload({
  name: nameIsDnsLabel,
  spec: statefulSetSpec,
  frozen: ['selector', 'volumeClaimTemplates', 'serviceName', 'podManagementPolicy'],
  status: STATEFUL_SET_STATUS,
});

function replicationControllerSpec(path: FieldPath, spec: Obj): FieldError[] {
  const selector = strMap(spec, 'selector');
  const template = maybeObj(spec, 'template');
  const errors = counts(path, spec, 'minReadySeconds', 'replicas');
  if (Object.keys(selector).length === 0) errors.push(required(child(path, 'selector')));
  errors.push(...labels(child(path, 'selector'), selector));
  if (template === undefined) return [...errors, required(child(path, 'template'))];
  const templateLabels = strMap(obj(template, 'metadata'), 'labels');
  if (!selectorFromSet(selector).matches(templateLabels))
    errors.push(
      invalid(
        child(path, 'template', 'metadata', 'labels'),
        maybeObj(obj(template, 'metadata'), 'labels') ?? null,
        '`selector` does not match template `labels`',
      ),
    );
  return [
    ...errors,
    ...podTemplate(child(path, 'template'), template),
    ...restartsAlways(path, spec, 'ReplicationController'),
  ];
}

export const ReplicationControllerRules = workload({
  name: nameIsDnsSubdomain,
  spec: replicationControllerSpec,
  frozen: [],
  status: REPLICA_SET_STATUS,
});

const revision = (object: Obj): FieldError[] => [
  ...objectMeta(object, META),
  ...nonnegative('revision', num(object, 'revision')),
];

export const ControllerRevisionRules: KindRules = {
  ...META,
  create: (object) => [
    ...revision(object),
    ...(!has(object, 'data')
      ? [required('data', 'data is mandatory')]
      : isObj(object['data'])
        ? []
        : [required('data', 'data must be a valid JSON object')]),
  ],
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...revision(object),
    ...immutable('data', object['data'], before['data']),
  ],
};
