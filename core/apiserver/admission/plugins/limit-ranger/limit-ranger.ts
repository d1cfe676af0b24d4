import type {
  V1Container,
  V1LimitRange,
  V1PersistentVolumeClaim,
  V1Pod,
} from '../../../../api/schema/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../attributes.ts';
import { handlesOnly } from '../../matching.ts';
import type { ObjectReader } from '../../../storage/object-reader.ts';
import { aggregateMessage, refusal } from '../../refusal.ts';
import { claimFaults, podFaults } from './constraints.ts';

const LIMIT_RANGES = { group: '', resource: 'limitranges' };
const ANNOTATION = 'kubernetes.io/limit-ranger';

type Amounts = Record<string, string>;

/** Sets what is not there; answers the names that were set, sorted. */
const fillAmounts = (amounts: Amounts, defaults: Amounts): string[] => {
  const names = Object.keys(defaults).filter((name) => amounts[name] === undefined);
  for (const name of names) amounts[name] = defaults[name]!;
  return names.sort();
};

const fillContainer = (
  container: V1Container,
  title: string,
  limits: Amounts,
  requests: Amounts,
): string[] => {
  const resources = container.resources ?? {};
  const [ownLimits, ownRequests] = [{ ...resources.limits }, { ...resources.requests }];
  const setLimits = fillAmounts(ownLimits, limits);
  const setRequests = fillAmounts(ownRequests, requests);
  if (setLimits.length + setRequests.length === 0) return [];
  container.resources = {
    ...resources,
    ...(Object.keys(ownLimits).length > 0 && { limits: ownLimits }),
    ...(Object.keys(ownRequests).length > 0 && { requests: ownRequests }),
  };
  const say = (names: readonly string[], what: string): string[] =>
    names.length === 0 ? [] : [`${names.join(', ')} ${what} for ${title} ${container.name}`];
  return [...say(setRequests, 'request'), ...say(setLimits, 'limit')];
};

/** Gives containers the defaults of the range, and says so in an annotation. */
const fillPod = ({ spec: range }: V1LimitRange, pod: V1Pod): void => {
  const items = (range?.limits ?? []).filter(({ type }) => type === 'Container');
  const limits = Object.assign({}, ...items.map((item) => item.default ?? {})) as Amounts;
  const requests = Object.assign({}, ...items.map((item) => item.defaultRequest ?? {})) as Amounts;
  const told = [
    ...(pod.spec?.containers ?? []).flatMap((one) => fillContainer(one, 'container', limits, requests)),
    ...(pod.spec?.initContainers ?? []).flatMap((one) =>
      fillContainer(one, 'init container', limits, requests),
    ),
  ];
  if (told.length === 0) return;
  const metadata = (pod.metadata ??= {});
  metadata.annotations = {
    ...metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${told.join('; ')}`,
  };
};

const isPod = ({ kind }: AdmissionAttributes): boolean => kind.group === '' && kind.kind === 'Pod';

const isLimited = (attributes: AdmissionAttributes): boolean => {
  const { kind, operation, subresource, oldObject } = attributes;
  if (oldObject?.metadata?.deletionTimestamp) return false;
  if (subresource !== '') return subresource === 'resize' && isPod(attributes) && operation === 'UPDATE';
  // Containers of a pod change by resize alone.
  if (isPod(attributes)) return operation === 'CREATE';
  return kind.group === '' && kind.kind === 'PersistentVolumeClaim';
};

/** Holds pods and claims of a namespace to its LimitRanges. */
export const limitRanger = (reader: ObjectReader): AdmissionPlugin => {
  const rangesOf = async ({ namespace }: AdmissionAttributes): Promise<readonly V1LimitRange[]> =>
    (await reader.list(LIMIT_RANGES, namespace)) as readonly V1LimitRange[];
  return {
    name: 'LimitRanger',
    handles: handlesOnly('CREATE', 'UPDATE'),
    async admit(attributes) {
      if (!isLimited(attributes) || !isPod(attributes)) return;
      for (const range of await rangesOf(attributes)) fillPod(range, attributes.object as V1Pod);
    },
    async validate(attributes) {
      if (!isLimited(attributes)) return;
      const { object } = attributes;
      for (const range of await rangesOf(attributes)) {
        const faults = isPod(attributes)
          ? podFaults(range, object as V1Pod)
          : claimFaults(range, object as V1PersistentVolumeClaim);
        if (faults.length > 0) throw refusal(attributes, aggregateMessage(faults));
      }
    },
  };
};
