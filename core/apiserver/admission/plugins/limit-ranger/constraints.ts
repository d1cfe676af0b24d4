import { podLimits, podRequests, resourceListFrom, type ResourceList } from '../../../../api/quota/index.ts';
import { ZERO, type Quantity } from '../../../../api/quantity/index.ts';
import type {
  V1LimitRange,
  V1LimitRangeItem,
  V1PersistentVolumeClaim,
  V1Pod,
} from '../../../../api/schema/index.ts';

/** What one container, pod or claim asks for. */
interface Asked {
  readonly requests: ResourceList;
  readonly limits: ResourceList;
}

const RATIO_DIGITS = 6;

const milli = (amount: Quantity | undefined): bigint => (amount ?? ZERO).milliValue();

const minFault = (type: string, name: string, least: Quantity, asked: Asked): string | undefined => {
  const [request, limit] = [asked.requests.get(name), asked.limits.get(name)];
  const head = `minimum ${name} usage per ${type} is ${least.toString()}`;
  if (!request) return `${head}.  No request is specified`;
  if (milli(request) < milli(least)) return `${head}, but request is ${request.toString()}`;
  if (limit && milli(limit) < milli(least)) return `${head}, but limit is ${limit.toString()}`;
  return undefined;
};

const maxFault = (type: string, name: string, most: Quantity, asked: Asked): string | undefined => {
  const [request, limit] = [asked.requests.get(name), asked.limits.get(name)];
  const head = `maximum ${name} usage per ${type} is ${most.toString()}`;
  if (!limit) return `${head}.  No limit is specified`;
  if (milli(limit) > milli(most)) return `${head}, but limit is ${limit.toString()}`;
  if (request && milli(request) > milli(most)) return `${head}, but request is ${request.toString()}`;
  return undefined;
};

/** Claims have no limits. */
const maxRequestFault = (
  type: string,
  name: string,
  most: Quantity,
  { requests }: Asked,
): string | undefined => {
  const request = requests.get(name);
  const head = `maximum ${name} usage per ${type} is ${most.toString()}`;
  if (!request) return `${head}.  No request is specified`;
  return milli(request) > milli(most) ? `${head}, but request is ${request.toString()}` : undefined;
};

const ratioFault = (type: string, name: string, most: Quantity, asked: Asked): string | undefined => {
  const [request, limit] = [milli(asked.requests.get(name)), milli(asked.limits.get(name))];
  const head = `${name} max limit to request ratio per ${type} is ${most.toString()}`;
  if (request === 0n) return `${head}, but no request is specified or request is 0`;
  if (limit === 0n) return `${head}, but no limit is specified or limit is 0`;
  if (limit * 1000n <= milli(most) * request) return undefined;
  return `${head}, but provided ratio is ${(Number(limit) / Number(request)).toFixed(RATIO_DIGITS)}`;
};

type Check = typeof minFault;

const faults = (
  item: V1LimitRangeItem,
  asked: Asked,
  checks: readonly (readonly [keyof V1LimitRangeItem, Check])[],
): string[] =>
  checks.flatMap(([field, check]) =>
    [...resourceListFrom(item[field] as Record<string, string> | undefined)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, bound]) => check(item.type, name, bound, asked) ?? []),
  );

const POD_CHECKS = [
  ['min', minFault],
  ['max', maxFault],
  ['maxLimitRequestRatio', ratioFault],
] as const;
const CLAIM_CHECKS = [
  ['min', minFault],
  ['max', maxRequestFault],
] as const;

/** Everything in a pod that a range forbids. */
export const podFaults = ({ spec }: V1LimitRange, pod: V1Pod): string[] => {
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const options = { useStatus: false, excludeOverhead: true };
  return (spec?.limits ?? []).flatMap((item) => {
    if (item.type === 'Pod')
      return faults(
        item,
        { requests: podRequests(pod, options), limits: podLimits(pod, options) },
        POD_CHECKS,
      );
    if (item.type !== 'Container') return [];
    return containers.flatMap(({ resources }) => {
      const asked = {
        requests: resourceListFrom(resources?.requests),
        limits: resourceListFrom(resources?.limits),
      };
      return faults(item, asked, POD_CHECKS);
    });
  });
};

export const claimFaults = ({ spec }: V1LimitRange, claim: V1PersistentVolumeClaim): string[] => {
  const asked = { requests: resourceListFrom(claim.spec?.resources?.requests), limits: resourceListFrom({}) };
  return (spec?.limits ?? [])
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((item) => faults(item, asked, CLAIM_CHECKS));
};
