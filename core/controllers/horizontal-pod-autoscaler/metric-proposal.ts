import { messageOf } from '../../base/errors.ts';
import { Quantity, quantityFrom } from '../../api/quantity/index.ts';
import { EVERYTHING, selectorFromObject, type LabelSelector } from '../../api/selector/index.ts';
import type { V2MetricSpec, V2MetricStatus, V2MetricTarget } from '../../api/schema/index.ts';
import type { Pod } from '../../client/index.ts';
import type { MetricValues } from './metric-values.ts';
import {
  averageReplicas,
  sharedReplicas,
  utilizationReplicas,
  valueReplicas,
  type PodCount,
  type ReadinessRules,
  type Tolerances,
} from './replica-count.ts';
import { selectorText } from './selector-text.ts';

export interface MetricInput {
  readonly namespace: string;
  readonly selector: LabelSelector;
  /** Those that the selector names. */
  readonly pods: readonly Pod[];
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly tolerances: Tolerances;
  readonly rules: ReadinessRules;
}

export interface Proposal {
  readonly replicas: number;
  /** For events and conditions: `cpu resource utilization (percentage of request)`. */
  readonly metric: string;
  readonly status: V2MetricStatus;
}

/** A metric that could not be had: the reason of the condition, its text, and the text for what happens above. */
export class MetricFailure extends Error {
  override readonly name = 'MetricFailure';
  readonly reason: string;
  readonly detail: string;

  constructor(reason: string, detail: string, message: string, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
    this.detail = detail;
  }
}

const NANOS_PER_MILLI = 1_000_000n;
const milliText = (milli: number, isBinary = false): string =>
  new Quantity(BigInt(Math.trunc(milli)) * NANOS_PER_MILLI, isBinary ? 'BinarySI' : 'DecimalSI').toString();
const milliOf = (text: string): number => Number(quantityFrom(text).milliValue());

/** An absent selector of a metric selects every series of it. */
const metricSelectorOf = (selector: Parameters<typeof selectorFromObject>[0]): LabelSelector =>
  selector === undefined || selector === null ? EVERYTHING : selectorFromObject(selector);

const countOf = (input: MetricInput, metrics: PodCount['metrics'], resource: string): PodCount => ({
  pods: input.pods,
  metrics,
  currentReplicas: input.specReplicas,
  resource,
  tolerances: input.tolerances,
  rules: input.rules,
});

const wrapped = async <T>(prefix: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${prefix}: ${messageOf(error)}`, { cause: error });
  }
};

const resourceProposal = async (
  values: MetricValues,
  input: MetricInput,
  source: { readonly name: string; readonly target: V2MetricTarget; readonly container: string },
) => {
  const { name, target, container } = source;
  const { averageValue, averageUtilization } = target;
  const fetch = () =>
    wrapped(`unable to get metrics for resource ${name}`, () =>
      values.resource(input.namespace, input.selector, name, container),
    );
  const isBinary = name === 'memory';
  if (averageValue !== undefined) {
    const { replicas, average } = await wrapped(`failed to get ${name} usage`, async () =>
      averageReplicas(countOf(input, await fetch(), name), milliOf(averageValue)),
    );
    return { replicas, metric: `${name} resource`, current: { averageValue: milliText(average, isBinary) } };
  }
  if (averageUtilization === undefined)
    throw new Error(
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
    );
  const { replicas, utilization, average } = await wrapped(`failed to get ${name} utilization`, async () =>
    utilizationReplicas(countOf(input, await fetch(), name), { target: averageUtilization, container }),
  );
  return {
    replicas,
    metric: `${name} ${container === '' ? '' : 'container '}resource utilization (percentage of request)`,
    current: { averageUtilization: utilization, averageValue: milliText(average, isBinary) },
  };
};

type Maker = (values: MetricValues, input: MetricInput, spec: V2MetricSpec) => Promise<Proposal>;

interface Source {
  readonly reason: string;
  /** What the failure of the whole metric begins with. */
  prefix(spec: V2MetricSpec): string;
  readonly propose: Maker;
}

const SOURCES: Readonly<Record<string, Source>> = {
  Resource: {
    reason: 'FailedGetResourceMetric',
    prefix: ({ resource }) => `failed to get ${resource?.name} resource metric value`,
    async propose(values, input, { resource }) {
      const { name, target } = resource!;
      const { replicas, metric, current } = await resourceProposal(values, input, {
        name,
        target,
        container: '',
      });
      return { replicas, metric, status: { type: 'Resource', resource: { name, current } } };
    },
  },
  ContainerResource: {
    reason: 'FailedGetContainerResourceMetric',
    prefix: ({ containerResource }) => `failed to get ${containerResource?.container} container metric value`,
    async propose(values, input, { containerResource }) {
      const { name, target, container } = containerResource!;
      const { replicas, metric, current } = await resourceProposal(values, input, {
        name,
        target,
        container,
      });
      return {
        replicas,
        metric,
        status: { type: 'ContainerResource', containerResource: { name, container, current } },
      };
    },
  },
  Pods: {
    reason: 'FailedGetPodsMetric',
    prefix: () => 'failed to get pods metric value',
    async propose(values, input, { pods }) {
      const { metric, target } = pods!;
      const metrics = await wrapped(`unable to get metric ${metric.name}`, () =>
        values.pods(input.namespace, input.selector, metric.name, metricSelectorOf(metric.selector)),
      );
      const { replicas, average } = averageReplicas(
        countOf(input, metrics, ''),
        milliOf(target.averageValue ?? '0'),
      );
      return {
        replicas,
        metric: `pods metric ${metric.name}`,
        status: { type: 'Pods', pods: { metric, current: { averageValue: milliText(average) } } },
      };
    },
  },
  Object: {
    reason: 'FailedGetObjectMetric',
    prefix: () => 'failed to get object metric value',
    async propose(values, input, { object }) {
      const { describedObject, metric, target } = object!;
      const fetch = async (): Promise<number> => {
        try {
          return await values.object(
            input.namespace,
            describedObject,
            metric.name,
            metricSelectorOf(metric.selector),
          );
        } catch (error) {
          const { kind, name } = describedObject;
          throw new Error(
            `unable to get metric ${metric.name}: ${kind} on ${input.namespace} ${name}/${messageOf(error)}`,
            { cause: error },
          );
        }
      };
      const status = (current: object): V2MetricStatus => ({
        type: 'Object',
        object: { describedObject, metric, current },
      });
      if (target.type === 'Value' && target.value !== undefined) {
        const value = await fetch();
        return {
          replicas: valueReplicas(value, milliOf(target.value), {
            ...input,
            currentReplicas: input.specReplicas,
          }),
          metric: `${describedObject.kind} metric ${metric.name}`,
          status: status({ value: milliText(value) }),
        };
      }
      if (target.type === 'AverageValue' && target.averageValue !== undefined) {
        const { averageValue } = target;
        const { replicas, average } = sharedReplicas(
          await wrapped(`failed to get ${metric.name} object metric`, fetch),
          milliOf(averageValue),
          input,
        );
        return {
          replicas,
          metric: `external metric ${metric.name}(${selectorText(metric.selector)})`,
          status: status({ averageValue: milliText(average) }),
        };
      }
      throw new Error(
        'invalid object metric source: neither a value target nor an average value target was set',
      );
    },
  },
  External: {
    reason: 'FailedGetExternalMetric',
    prefix: ({ external }) => `failed to get ${external?.metric.name} external metric value`,
    async propose(values, input, { external }) {
      const { metric, target } = external!;
      const fetch = async (): Promise<number> => {
        const selector = selectorText(metric.selector);
        const found = await wrapped(
          `unable to get external metric ${input.namespace}/${metric.name}/${selector}`,
          () => values.external(input.namespace, metric.name, metricSelectorOf(metric.selector)),
        );
        return found.reduce((total, one) => total + one, 0);
      };
      const answer = (replicas: number, current: object): Proposal => ({
        replicas,
        metric: `external metric ${metric.name}(${selectorText(metric.selector)})`,
        status: { type: 'External', external: { metric, current } },
      });
      if (target.averageValue !== undefined) {
        const value = await wrapped(`failed to get ${metric.name} external metric`, fetch);
        const { replicas, average } = sharedReplicas(value, milliOf(target.averageValue), input);
        return answer(replicas, { averageValue: milliText(average) });
      }
      if (target.value !== undefined) {
        const value = await wrapped(`failed to get external metric ${metric.name}`, fetch);
        const replicas = valueReplicas(value, milliOf(target.value), {
          ...input,
          currentReplicas: input.specReplicas,
        });
        return answer(replicas, { value: milliText(value) });
      }
      throw new Error(
        'invalid external metric source: neither a value target nor an average value target was set',
      );
    },
  },
};

/** What one metric of an autoscaler calls for. Fails with MetricFailure. */
export const proposeFor: Maker = async (values, input, spec) => {
  const source = Object.hasOwn(SOURCES, spec.type) ? SOURCES[spec.type] : undefined;
  if (!source) {
    const message = `unknown metric source type ${JSON.stringify(spec.type)}`;
    throw new MetricFailure('InvalidMetricSourceType', message, message, undefined);
  }
  try {
    return await source.propose(values, input, spec);
  } catch (error) {
    const detail = messageOf(error);
    throw new MetricFailure(source.reason, detail, `${source.prefix(spec)}: ${detail}`, error);
  }
};
