import type { KubernetesObject } from '../../meta/object-meta.ts';
import { someOf } from './formats.ts';
import {
  AGE,
  ageOf,
  at,
  column,
  count,
  list,
  NAME,
  nameOf,
  text,
  textOr,
  type TablePrinter,
} from './printer.ts';

type Fields = Record<string, unknown>;

const METRICS_SHOWN_MAX = 2;
const UNKNOWN = '<unknown>';

const percent = (value: unknown, fallback: string): string =>
  value === undefined ? fallback : `${String(value)}%`;

/** What is, over what is wanted, of one metric; `source` and `status` are the parts of its type. */
const valueText = (source: Fields | undefined, status: Fields | undefined): string => {
  const average = text(source, 'target', 'averageValue');
  if (average !== '') return `${textOr(UNKNOWN, status, 'current', 'averageValue')}/${average} (avg)`;
  return `${textOr(UNKNOWN, status, 'current', 'value')}/${text(source, 'target', 'value')}`;
};

const resourceText = (source: Fields | undefined, status: Fields | undefined): string => {
  const name = text(source, 'name');
  const average = text(source, 'target', 'averageValue');
  if (average !== '') return `${name}: ${textOr(UNKNOWN, status, 'current', 'averageValue')}/${average}`;
  const now = percent(at(status, 'current', 'averageUtilization'), UNKNOWN);
  return `${name}: ${now}/${percent(at(source, 'target', 'averageUtilization'), '<auto>')}`;
};

const metricText = (metric: Fields, status: Fields | undefined): string => {
  const part = (name: string): [Fields | undefined, Fields | undefined] => [
    metric[name] as Fields | undefined,
    status?.[name] as Fields | undefined,
  ];
  switch (metric['type']) {
    case 'External':
      return valueText(...part('external'));
    case 'Object':
      return valueText(...part('object'));
    case 'Pods': {
      const [source, current] = part('pods');
      return `${textOr(UNKNOWN, current, 'current', 'averageValue')}/${text(source, 'target', 'averageValue')}`;
    }
    case 'Resource':
      return resourceText(...part('resource'));
    case 'ContainerResource':
      return resourceText(...part('containerResource'));
    default:
      return '<unknown type>';
  }
};

const metricsText = (object: KubernetesObject): string => {
  const metrics = list(object, 'spec', 'metrics');
  if (metrics.length === 0) return '<none>';
  const statuses = list(object, 'status', 'currentMetrics');
  return someOf(
    metrics.map((metric, index) => metricText(metric, statuses[index])),
    METRICS_SHOWN_MAX,
    ', ',
  );
};

/** For autoscaling/v2; other versions are converted to it first. */
export const HORIZONTAL_POD_AUTOSCALER: TablePrinter = {
  columns: [
    NAME,
    column('Reference', 'What is scaled.'),
    column('Targets', 'The metrics it goes by, as they are and as they should be.'),
    column('MinPods', 'The fewest pods it scales to.'),
    column('MaxPods', 'The most pods it scales to.'),
    column('Replicas', 'How many pods there are.'),
    AGE,
  ],
  cells: (object, nowMs) => [
    nameOf(object),
    `${text(object, 'spec', 'scaleTargetRef', 'kind')}/${text(object, 'spec', 'scaleTargetRef', 'name')}`,
    metricsText(object),
    textOr('<unset>', object, 'spec', 'minReplicas'),
    count(object, 'spec', 'maxReplicas'),
    count(object, 'status', 'currentReplicas'),
    ageOf(object, nowMs),
  ],
};
