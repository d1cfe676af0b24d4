import { formatTime, type KubernetesObject } from '../../../api/meta/index.ts';
import { statusOf } from '../../../api/validation/validate.ts';
import { int, num, obj, objs, sameValue, str, strMap, strs, type Obj } from '../../../api/validation/read.ts';
import { metaOf } from '../generic/metadata.ts';
import type { Draft, Strategy } from '../generic/strategy.ts';
import { podQosClass } from './pod-qos.ts';
import { resizeErrors } from './pod-resize.ts';
import { ALL_STATUS_META, restore } from './spec-status.ts';

const SCHEDULING_GATED = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
} as const;

/** `matchLabelKeys` name labels of the pod; the selector says their values, so that the scheduler need not look. */
const withLabelKeys = (term: Obj, labels: Readonly<Record<string, string>>): Obj => {
  const selector = term['labelSelector'];
  const [match, mismatch] = [strs(term, 'matchLabelKeys'), strs(term, 'mismatchLabelKeys')];
  if (selector === undefined || match.length + mismatch.length === 0) return term;
  const requirements = (keys: readonly string[], operator: 'In' | 'NotIn') =>
    keys.flatMap((key) => (labels[key] === undefined ? [] : [{ key, operator, values: [labels[key]] }]));
  const expressions = [
    ...objs(selector as Obj, 'matchExpressions'),
    ...requirements(match, 'In'),
    ...requirements(mismatch, 'NotIn'),
  ];
  return {
    ...term,
    labelSelector: { ...(selector as Obj), ...(expressions.length > 0 && { matchExpressions: expressions }) },
  };
};

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

const affinityWithLabelKeys = (affinity: Obj, labels: Readonly<Record<string, string>>): Obj => ({
  ...affinity,
  ...(affinity[REQUIRED] !== undefined && {
    [REQUIRED]: objs(affinity, REQUIRED).map((term) => withLabelKeys(term, labels)),
  }),
  ...(affinity[PREFERRED] !== undefined && {
    [PREFERRED]: objs(affinity, PREFERRED).map((weighted) => ({
      ...weighted,
      podAffinityTerm: withLabelKeys(obj(weighted, 'podAffinityTerm'), labels),
    })),
  }),
});

const specWithLabelKeys = (spec: Obj, labels: Readonly<Record<string, string>>): Obj => {
  const affinity = spec['affinity'] as Obj | undefined;
  const constraints = spec['topologySpreadConstraints'];
  if (affinity === undefined && constraints === undefined) return spec;
  return {
    ...spec,
    ...(affinity !== undefined && {
      affinity: {
        ...affinity,
        ...(affinity['podAffinity'] !== undefined && {
          podAffinity: affinityWithLabelKeys(obj(affinity, 'podAffinity'), labels),
        }),
        ...(affinity['podAntiAffinity'] !== undefined && {
          podAntiAffinity: affinityWithLabelKeys(obj(affinity, 'podAntiAffinity'), labels),
        }),
      },
    }),
    ...(constraints !== undefined && {
      topologySpreadConstraints: objs(spec, 'topologySpreadConstraints').map((one) =>
        withLabelKeys(one, labels),
      ),
    }),
  };
};

const countPodGeneration = (draft: Draft, old: KubernetesObject): void => {
  if (!sameValue(draft['spec'], old['spec'])) metaOf(draft).generation = (old.metadata?.generation ?? 0) + 1;
};

export const podStrategy: Strategy = {
  returnsDeletedObject: true,
  resetFields: [['status']],
  prepareForCreate(draft) {
    const meta = metaOf(draft);
    meta.generation = 1;
    const spec = specWithLabelKeys(obj(draft, 'spec'), strMap(meta as Obj, 'labels'));
    draft['spec'] = spec;
    draft['status'] = {
      phase: 'Pending',
      ...(objs(spec, 'schedulingGates').length > 0 && {
        conditions: [
          { ...SCHEDULING_GATED, lastProbeTime: null, lastTransitionTime: meta.creationTimestamp },
        ],
      }),
      qosClass: podQosClass(spec),
    };
  },
  prepareForUpdate(draft, old) {
    restore(draft, old, 'status');
    countPodGeneration(draft, old);
  },
  /** No one waits for a pod that no kubelet runs. */
  graceSeconds(pod, asked) {
    const spec = obj(pod, 'spec');
    const phase = str(obj(pod, 'status'), 'phase');
    if (str(spec, 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
    const seconds = asked ?? num(spec, 'terminationGracePeriodSeconds') ?? 0;
    return seconds < 0 ? 1 : seconds;
  },
};

/** Old kubelets send back statuses without what they do not know of. */
const keepObserved = (status: Obj, before: Obj): Obj => {
  const kept = new Map<string, number[]>();
  for (const condition of objs(before, 'conditions'))
    kept.set(str(condition, 'type'), [
      ...(kept.get(str(condition, 'type')) ?? []),
      int(condition, 'observedGeneration'),
    ]);
  const conditions = objs(status, 'conditions').map((condition) => {
    const generation = kept.get(str(condition, 'type'))?.shift() ?? 0;
    return int(condition, 'observedGeneration') !== 0 || generation === 0
      ? condition
      : { ...condition, observedGeneration: generation };
  });
  const observed = int(status, 'observedGeneration') || int(before, 'observedGeneration');
  return {
    ...status,
    ...(status['conditions'] !== undefined && { conditions }),
    ...(observed !== 0 && { observedGeneration: observed }),
    ...(str(status, 'qosClass') === '' &&
      before['qosClass'] !== undefined && { qosClass: before['qosClass'] }),
    ...(status['resourceClaimStatuses'] === undefined &&
      before['resourceClaimStatuses'] !== undefined && {
        resourceClaimStatuses: before['resourceClaimStatuses'],
      }),
  };
};

export const podStatusStrategy: Strategy = {
  subresource: 'status',
  resetFields: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
  prepareForUpdate(draft, old) {
    restore(draft, old, 'spec');
    const meta = metaOf(draft);
    delete meta.deletionTimestamp;
    restore(
      meta as Record<string, unknown>,
      (old.metadata ?? {}) as Record<string, unknown>,
      'ownerReferences',
    );
    draft['status'] = keepObserved(obj(draft, 'status'), obj(old, 'status'));
  },
};

const keepMeta = (draft: Draft, old: KubernetesObject): void => {
  for (const field of ALL_STATUS_META)
    restore(metaOf(draft) as Record<string, unknown>, (old.metadata ?? {}) as Record<string, unknown>, field);
};

export const podEphemeralContainersStrategy: Strategy = {
  subresource: 'ephemeralcontainers',
  prepareForUpdate(draft, old) {
    const { ephemeralContainers } = obj(draft, 'spec');
    draft['spec'] = {
      ...obj(old, 'spec'),
      ...(ephemeralContainers !== undefined && { ephemeralContainers }),
    };
    restore(draft, old, 'status');
    keepMeta(draft, old);
    countPodGeneration(draft, old);
  },
};

/** Only resources and their policies move; what adds, removes or renames containers is left for validation to refuse. */
const resized = (after: readonly Obj[], before: readonly Obj[]): readonly Obj[] => {
  if (after.some((one, i) => str(one, 'name') !== str(before[i] ?? {}, 'name'))) return after;
  return before.map((container, i) => {
    const { resources: _resources, resizePolicy: _policy, ...rest } = container as Record<string, unknown>;
    const { resources, resizePolicy } = after[i] as Record<string, unknown>;
    return {
      ...rest,
      ...(resources !== undefined && { resources }),
      ...(resizePolicy !== undefined && { resizePolicy }),
    };
  });
};

export const podResizeStrategy: Strategy = {
  subresource: 'resize',
  prepareForUpdate(draft, old) {
    const [spec, before] = [obj(draft, 'spec'), obj(old, 'spec')];
    const lists = ['containers', 'initContainers'] as const;
    restore(draft, old, 'status');
    keepMeta(draft, old);
    if (lists.every((list) => objs(spec, list).length === objs(before, list).length)) {
      const next: Record<string, unknown> = { ...before };
      for (const list of lists)
        if (before[list] !== undefined) next[list] = resized(objs(spec, list), objs(before, list));
      if (spec['resources'] !== undefined) next['resources'] = spec['resources'];
      draft['spec'] = next;
    }
    countPodGeneration(draft, old);
  },
  checkUpdate(draft, old) {
    const refusal = statusOf({ group: '', kind: 'Pod' }, draft, resizeErrors(draft, old));
    return refusal ? Promise.reject(refusal) : Promise.resolve();
  },
};

/** A condition set on a pod's status: its transition time moves with its status only. */
export const withPodCondition = (
  status: Obj,
  condition: Readonly<Record<string, string>> & { readonly type: string; readonly status: string },
  nowMs: number,
): Obj => {
  const conditions = objs(status, 'conditions');
  const before = conditions.find((one) => str(one, 'type') === condition.type);
  const now = formatTime(nowMs);
  const next = {
    lastProbeTime: null,
    lastTransitionTime:
      before && str(before, 'status') === condition.status ? (before['lastTransitionTime'] ?? now) : now,
    ...condition,
  };
  return {
    ...status,
    conditions: before ? conditions.map((one) => (one === before ? next : one)) : [...conditions, next],
  };
};
