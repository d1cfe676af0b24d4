import { parseDurationMs } from '../../base/duration.ts';
import { messageOf } from '../../base/errors.ts';
import { groupResourceText, isNotFound, parseApiVersion } from '../../api/meta/index.ts';
import type { LabelSelector } from '../../api/selector/index.ts';
import { isObj, num, obj, objs, quantity, str, type Obj } from '../../api/validation/read.ts';
import type { Client, RestMapper } from '../../client/index.ts';
import type { PodMetric, PodMetrics } from './replica-count.ts';

/** Where a custom metric does not say what it measured over. */
const DEFAULT_WINDOW_MS = 60_000;
const CUSTOM_VERSIONS = ['v1beta2', 'v1beta1'] as const;

export interface ObjectReference {
  readonly apiVersion?: string | undefined;
  readonly kind: string;
  readonly name: string;
}

/** The values of metrics in thousandths. Failures are errors with upstream's words. */
export interface MetricValues {
  /** Of every pod that the selector names: the sum of its containers, or one container's. */
  resource(
    namespace: string,
    selector: LabelSelector,
    resource: string,
    container: string,
  ): Promise<PodMetrics>;
  pods(
    namespace: string,
    selector: LabelSelector,
    metric: string,
    metricSelector: LabelSelector,
  ): Promise<PodMetrics>;
  object(
    namespace: string,
    reference: ObjectReference,
    metric: string,
    metricSelector: LabelSelector,
  ): Promise<number>;
  external(namespace: string, metric: string, metricSelector: LabelSelector): Promise<readonly number[]>;
}

const milliOf = (value: unknown): number | undefined => {
  const parsed = value === undefined ? undefined : quantity(value);
  return parsed && Number(parsed.milliValue());
};

/** Undefined where the resource is missing in a container that counts. */
const usageOf = (pod: Obj, resource: string, container: string): number | undefined => {
  const containers = objs(pod, 'containers').filter(
    (one) => container === '' || str(one, 'name') === container,
  );
  if (containers.length === 0) return undefined;
  let total = 0;
  for (const one of containers) {
    const value = milliOf(obj(one, 'usage')[resource]);
    if (value === undefined) return undefined;
    total += value;
  }
  return total;
};

const itemsOf = (list: unknown, api: string): readonly Obj[] => {
  const items = isObj(list) ? objs(list, 'items') : [];
  if (items.length === 0) throw new Error(`no metrics returned from ${api} metrics API`);
  return items;
};

export const metricValues = (client: Client, mapper: RestMapper): MetricValues => {
  const ask = async (
    api: 'resource' | 'custom' | 'external',
    path: string,
    query: Readonly<Record<string, string>>,
  ): Promise<unknown> => {
    const set = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
    try {
      return await client.json<unknown>({ method: 'GET', path, query: set });
    } catch (error) {
      if (api === 'custom' && isNotFound(error)) throw error;
      throw new Error(`unable to fetch metrics from ${api} metrics API: ${messageOf(error)}`, {
        cause: error,
      });
    }
  };
  let customVersion: string = CUSTOM_VERSIONS[0];
  /** Servers have one of two versions: the one that answered is asked first the next time. */
  const askCustom = async (path: string, query: Readonly<Record<string, string>>): Promise<unknown> => {
    const versions = [customVersion, ...CUSTOM_VERSIONS.filter((one) => one !== customVersion)];
    let missing: unknown;
    for (const version of versions)
      try {
        const answer = await ask('custom', `/apis/custom.metrics.k8s.io/${version}${path}`, query);
        customVersion = version;
        return answer;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        missing ??= error;
      }
    throw new Error(`unable to fetch metrics from custom metrics API: ${messageOf(missing)}`, {
      cause: missing,
    });
  };

  return {
    async resource(namespace, selector, resource, container) {
      const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`;
      const items = itemsOf(await ask('resource', path, { labelSelector: selector.toString() }), 'resource');
      const metrics = new Map<string, PodMetric>();
      for (const pod of items) {
        const milliValue = usageOf(pod, resource, container);
        if (milliValue !== undefined)
          metrics.set(str(obj(pod, 'metadata'), 'name'), {
            timestampMs: Date.parse(str(pod, 'timestamp')),
            windowMs: parseDurationMs(str(pod, 'window')) ?? 0,
            milliValue,
          });
      }
      return metrics;
    },
    async pods(namespace, selector, metric, metricSelector) {
      const items = itemsOf(
        await askCustom(`/namespaces/${namespace}/pods/*/${encodeURIComponent(metric)}`, {
          labelSelector: selector.toString(),
          metricLabelSelector: metricSelector.toString(),
        }),
        'custom',
      );
      return new Map(
        items.map((item) => {
          const seconds = num(item, 'windowSeconds');
          return [
            str(obj(item, 'describedObject'), 'name'),
            {
              timestampMs: Date.parse(str(item, 'timestamp')),
              windowMs: seconds === undefined ? DEFAULT_WINDOW_MS : seconds * 1000,
              milliValue: milliOf(item['value']) ?? 0,
            },
          ];
        }),
      );
    },
    async object(namespace, { apiVersion = '', kind, name }, metric, metricSelector) {
      const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
      const encoded = encodeURIComponent(metric);
      let path = `/namespaces/${namespace}/metrics/${encoded}`;
      if (kind !== 'Namespace' || group !== '') {
        const found =
          (await mapper.ofKind({ group, kind, ...(version !== '' && { version }) })) ??
          (await mapper.ofKind({ group, kind }));
        if (!found)
          throw new Error(
            `unable to fetch metrics from custom metrics API: unable to map kind ${group === '' ? kind : `${kind}.${group}`} to resource: no matches for kind "${kind}" in group "${group}"`,
          );
        const resource = groupResourceText({ group, resource: found.plural });
        path = `/namespaces/${namespace}/${resource}/${encodeURIComponent(name)}/${encoded}`;
      }
      const answer = await askCustom(path, { metricLabelSelector: metricSelector.toString() });
      const items = isObj(answer) ? objs(answer, 'items') : [];
      if (items.length !== 1)
        throw new Error(
          `unable to fetch metrics from custom metrics API: the custom metrics API server returned ${items.length} results when we asked for exactly one`,
        );
      return milliOf(items[0]!['value']) ?? 0;
    },
    async external(namespace, metric, metricSelector) {
      const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/${encodeURIComponent(metric)}`;
      const list = await ask('external', path, { labelSelector: metricSelector.toString() });
      return itemsOf(list, 'external').map((item) => milliOf(item['value']) ?? 0);
    },
  };
};
