import { quantityFrom, type Quantity, ZERO } from '../../api/quantity/index.ts';
import type { V1Container, V1Pod } from '../../api/schema/index.ts';
import { isSidecar } from '../containers/container-record.ts';

export type Amounts = ReadonlyMap<string, Quantity>;

const requestsOf = (container: V1Container): Amounts =>
  new Map(
    Object.entries(container.resources?.requests ?? {}).map(([name, text]) => [name, quantityFrom(text)]),
  );

const add = (a: Amounts, b: Amounts): Amounts => {
  const sum = new Map(a);
  for (const [name, amount] of b) sum.set(name, (sum.get(name) ?? ZERO).add(amount));
  return sum;
};

const larger = (a: Amounts, b: Amounts): Amounts => {
  const result = new Map(a);
  for (const [name, amount] of b) if (amount.compare(result.get(name) ?? ZERO) > 0) result.set(name, amount);
  return result;
};

/**
 * What a pod asks of its node: all that runs together, or the init container that needs most beside the sidecars
 * started before it, whichever is more; and its overhead. Requests of the pod itself take precedence.
 */
export const podRequests = (pod: V1Pod): Amounts => {
  const none: Amounts = new Map();
  let together = (pod.spec?.containers ?? []).map(requestsOf).reduce(add, none);
  let sidecars = none;
  let most = none;
  for (const container of pod.spec?.initContainers ?? []) {
    const own = requestsOf(container);
    if (isSidecar(container)) {
      together = add(together, own);
      sidecars = add(sidecars, own);
      most = larger(most, sidecars);
    } else most = larger(most, add(sidecars, own));
  }
  const total = new Map(larger(together, most));
  for (const [name, text] of Object.entries(pod.spec?.resources?.requests ?? {}))
    total.set(name, quantityFrom(text));
  const overhead = new Map(
    Object.entries(pod.spec?.overhead ?? {}).map(([name, text]) => [name, quantityFrom(text)]),
  );
  return add(total, overhead);
};
