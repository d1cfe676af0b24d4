import { jsonText } from '../../meta/json-text.ts';
import { ReasonError } from '../../../base/errors.ts';
import { isJsonObject, type KubernetesObject } from '../../meta/object-meta.ts';
import { decodeObject, structOf } from '../../schema/index.ts';
import { metricFromV1, metricStatusFromV1, metricStatusToV1, metricToV1 } from './metric-v1.ts';

/**
 * autoscaling/v1 knows a CPU target only. What v2 says beyond it travels in annotations, as upstream writes
 * them, so that nothing is lost on the way to v1 and back.
 */
type Fields = Record<string, unknown>;

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const STATUSES = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';
const TOLERANCES = [
  'autoscaling.alpha.kubernetes.io/scale-down-tolerance',
  'autoscaling.alpha.kubernetes.io/scale-up-tolerance',
];
const CARRIERS = new Set([METRICS, STATUSES, CONDITIONS, BEHAVIOR, ...TOLERANCES]);
const DEFAULT_CPU_PERCENT = 80;

const cpuMetric = (averageUtilization: unknown): Fields => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

const resourceOf = (metric: Fields): Fields | undefined =>
  metric['type'] === 'Resource' ? (metric['resource'] as Fields | undefined) : undefined;

/** The percentage of a CPU metric: the one thing v1 can say. */
const cpuPercent = (metric: Fields, value: 'target' | 'current'): unknown => {
  const resource = resourceOf(metric);
  if (resource?.['name'] !== 'cpu') return undefined;
  return (resource[value] as Fields | undefined)?.['averageUtilization'];
};

const withAnnotations = (
  object: KubernetesObject,
  add: Readonly<Record<string, unknown>>,
): KubernetesObject => {
  const kept = Object.entries(object.metadata?.annotations ?? {}).filter(([name]) => !CARRIERS.has(name));
  const added = Object.entries(add)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, jsonText(value)] as const);
  const { annotations: _old, ...metadata } = object.metadata ?? {};
  const annotations = Object.fromEntries([...kept, ...added]);
  return {
    ...object,
    metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
  };
};

/** What an annotation carries; a text that is no JSON carries nothing, as upstream has it. */
const carried = (object: KubernetesObject, name: string): unknown => {
  const text = object.metadata?.annotations?.[name];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** A value as Go would read it into a type of v2: null is its zero value, and one that does not fit is undefined. */
const typed = (typeId: string, value: unknown): Fields | undefined => {
  if (value !== null && !isJsonObject(value)) return undefined;
  try {
    return decodeObject(structOf(`autoscaling.v2.${typeId}`), value ?? {}).object;
  } catch (error) {
    if (error instanceof ReasonError) return undefined;
    throw error;
  }
};

/** The list that an annotation carries; one entry that does not fit its type spoils all, as upstream has it. */
const carriedList = (
  object: KubernetesObject,
  name: string,
  typeId: string,
  convert: (entry: Fields) => Fields = (entry) => entry,
): Fields[] => {
  const entries = carried(object, name);
  if (!Array.isArray(entries)) return [];
  const read = entries.map((entry: unknown) => typed(typeId, isJsonObject(entry) ? convert(entry) : entry));
  return read.every((entry) => entry !== undefined) ? read : [];
};

const nonEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length > 0 ? list : undefined);
const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? (value as Fields[]) : []);
const without = (fields: Fields, ...names: readonly string[]): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !names.includes(name) && value !== undefined),
  );

export const autoscalerToV1 = (object: KubernetesObject): KubernetesObject => {
  const spec = (object['spec'] ?? {}) as Fields;
  const status = (object['status'] ?? {}) as Fields;
  const metrics = listOf(spec['metrics']);
  const current = listOf(status['currentMetrics']);
  const isCpu = (metric: Fields): boolean => cpuPercent(metric, 'target') !== undefined;
  const target = metrics.find(isCpu);
  const reported = current
    .map((metric) => cpuPercent(metric, 'current'))
    .findLast((value) => value !== undefined);
  const carrier = withAnnotations(object, {
    [METRICS]: nonEmpty(metrics.filter((metric) => !isCpu(metric)).map(metricToV1)),
    [STATUSES]: nonEmpty(current.map(metricStatusToV1)),
    [BEHAVIOR]: spec['behavior'],
    [CONDITIONS]: nonEmpty(listOf(status['conditions'])),
  });
  return {
    ...carrier,
    apiVersion: 'autoscaling/v1',
    spec: {
      ...without(spec, 'metrics', 'behavior'),
      ...(target && { targetCPUUtilizationPercentage: cpuPercent(target, 'target') }),
    },
    ...(object['status'] !== undefined && {
      status: {
        ...without(status, 'currentMetrics', 'conditions'),
        ...(reported !== undefined && { currentCPUUtilizationPercentage: reported }),
      },
    }),
  };
};

export const autoscalerFromV1 = (object: KubernetesObject): KubernetesObject => {
  const spec = (object['spec'] ?? {}) as Fields;
  const status = (object['status'] ?? {}) as Fields;
  const percent = spec['targetCPUUtilizationPercentage'];
  const metrics = carriedList(object, METRICS, 'MetricSpec', metricFromV1);
  if (percent !== undefined) metrics.push(cpuMetric(percent));
  if (metrics.length === 0) metrics.push(cpuMetric(DEFAULT_CPU_PERCENT));
  const behavior = typed('HorizontalPodAutoscalerBehavior', carried(object, BEHAVIOR));
  const reported = status['currentCPUUtilizationPercentage'];
  const statuses = carriedList(object, STATUSES, 'MetricStatus', metricStatusFromV1);
  if (statuses.length === 0 && reported !== undefined)
    statuses.push({ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: reported } } });
  const conditions = nonEmpty(carriedList(object, CONDITIONS, 'HorizontalPodAutoscalerCondition'));
  return {
    ...withAnnotations(object, {}),
    apiVersion: 'autoscaling/v2',
    spec: {
      ...without(spec, 'targetCPUUtilizationPercentage'),
      metrics,
      ...(behavior !== undefined && { behavior }),
    },
    ...(object['status'] !== undefined && {
      status: {
        ...without(status, 'currentCPUUtilizationPercentage'),
        ...(statuses.length > 0 && { currentMetrics: statuses }),
        ...(conditions && { conditions }),
      },
    }),
  };
};
