/** Metrics as the annotations of autoscaling/v1 spell them: flat, where v2 nests metric and target. */
type Fields = Record<string, unknown>;

const compact = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const at = (fields: Fields | undefined, name: string): Fields => (fields?.[name] ?? {}) as Fields;

interface Spelling {
  /** Field of v2's metric source that holds the amounts. */
  readonly amounts: 'target' | 'current';
  readonly value: string;
  readonly averageValue: string;
  readonly utilization: string;
}

const SPEC: Spelling = {
  amounts: 'target',
  value: 'targetValue',
  averageValue: 'targetAverageValue',
  utilization: 'targetAverageUtilization',
};
const STATUS: Spelling = {
  amounts: 'current',
  value: 'currentValue',
  averageValue: 'currentAverageValue',
  utilization: 'currentAverageUtilization',
};

const targetType = (amounts: Fields): string => {
  if (amounts['averageUtilization'] !== undefined) return 'Utilization';
  return amounts['averageValue'] === undefined ? 'Value' : 'AverageValue';
};

const flatten = (metric: Fields, spelling: Spelling): Fields => {
  const type = metric['type'] as string;
  const sourceOf = (name: string): { source: Fields; amounts: Fields; identity: Fields } => {
    const source = at(metric, name);
    return { source, amounts: at(source, spelling.amounts), identity: at(source, 'metric') };
  };
  switch (type) {
    case 'Resource':
    case 'ContainerResource': {
      const name = type === 'Resource' ? 'resource' : 'containerResource';
      const { source, amounts } = sourceOf(name);
      const flat = compact({
        name: source['name'],
        [spelling.utilization]: amounts['averageUtilization'],
        [spelling.averageValue]: amounts['averageValue'],
        container: source['container'],
      });
      return { type, [name]: flat };
    }
    case 'Pods': {
      const { amounts, identity } = sourceOf('pods');
      const flat = compact({
        metricName: identity['name'],
        [spelling.averageValue]: amounts['averageValue'],
        selector: identity['selector'],
      });
      return { type, pods: flat };
    }
    case 'Object': {
      const { source, amounts, identity } = sourceOf('object');
      const flat = compact({
        target: source['describedObject'],
        metricName: identity['name'],
        [spelling.value]: amounts['value'],
        selector: identity['selector'],
        averageValue: amounts['averageValue'],
      });
      return { type, object: flat };
    }
    case 'External': {
      const { amounts, identity } = sourceOf('external');
      const flat = compact({
        metricName: identity['name'],
        metricSelector: identity['selector'],
        [spelling.value]: amounts['value'],
        [spelling.averageValue]: amounts['averageValue'],
      });
      return { type, external: flat };
    }
    default:
      return metric;
  }
};

const nest = (metric: Fields, spelling: Spelling): Fields => {
  const type = metric['type'] as string;
  const amountsOf = (source: Fields, averageValue = source[spelling.averageValue]): Fields => {
    const amounts = compact({
      value: source[spelling.value],
      averageValue,
      averageUtilization: source[spelling.utilization],
    });
    return spelling === SPEC ? { type: targetType(amounts), ...amounts } : amounts;
  };
  switch (type) {
    case 'Resource':
    case 'ContainerResource': {
      const name = type === 'Resource' ? 'resource' : 'containerResource';
      const source = at(metric, name);
      const nested = compact({ name: source['name'], container: source['container'] });
      return { type, [name]: { ...nested, [spelling.amounts]: amountsOf(source) } };
    }
    case 'Pods': {
      const source = at(metric, 'pods');
      const identity = compact({ name: source['metricName'], selector: source['selector'] });
      return { type, pods: { metric: identity, [spelling.amounts]: amountsOf(source) } };
    }
    case 'Object': {
      const source = at(metric, 'object');
      const identity = compact({ name: source['metricName'], selector: source['selector'] });
      const amounts = amountsOf(source, source['averageValue']);
      return {
        type,
        object: { describedObject: source['target'], metric: identity, [spelling.amounts]: amounts },
      };
    }
    case 'External': {
      const source = at(metric, 'external');
      const identity = compact({ name: source['metricName'], selector: source['metricSelector'] });
      return { type, external: { metric: identity, [spelling.amounts]: amountsOf(source) } };
    }
    default:
      return metric;
  }
};

export const metricToV1 = (metric: Fields): Fields => flatten(metric, SPEC);
export const metricFromV1 = (metric: Fields): Fields => nest(metric, SPEC);
export const metricStatusToV1 = (metric: Fields): Fields => flatten(metric, STATUS);
export const metricStatusFromV1 = (metric: Fields): Fields => nest(metric, STATUS);
