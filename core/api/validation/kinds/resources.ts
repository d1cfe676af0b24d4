import type { Quantity } from '../../quantity/quantity.ts';
import { label, nonnegativeQuantity, qualifiedName } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, notFound, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index, key } from '../../field/field-path.ts';
import type { Obj } from '../read.ts';
import { objs, quantities, quantity, str } from '../read.ts';

/** Names and amounts of resources: requests and limits of containers, claims, quotas and ranges. */

export const NOT_INTEGER = 'must be an integer';

const CONTAINER_RESOURCES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
/** What a quota may count. */
export const QUOTA_RESOURCES: ReadonlySet<string> = new Set([
  ...CONTAINER_RESOURCES,
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
]);
const STANDARD_RESOURCES: ReadonlySet<string> = new Set([...QUOTA_RESOURCES, 'storage']);
const INTEGER_RESOURCES: ReadonlySet<string> = new Set([
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

const HUGE_PAGES = 'hugepages-';
const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);
const isQuotaHugePages = (name: string): boolean => /^(requests\.)?hugepages-/.test(name);
/** Kubernetes' own: without a domain, or within kubernetes.io. */
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
const isExtended = (name: string): boolean => !isNative(name) && !name.startsWith('requests.');
const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);
const isInteger = (name: string): boolean => INTEGER_RESOURCES.has(name) || isExtended(name);

export function resourceName(path: FieldPath, name: string): FieldError[] {
  const errors = qualifiedName(path, name);
  if (errors.length > 0 || name.includes('/')) return errors;
  return STANDARD_RESOURCES.has(name) || isQuotaHugePages(name)
    ? []
    : [invalid(path, name, 'must be a standard resource type or fully qualified')];
}

export function containerResourceName(path: FieldPath, name: string): FieldError[] {
  const errors = resourceName(path, name);
  if (!name.includes('/')) {
    if (CONTAINER_RESOURCES.has(name) || isHugePages(name)) return errors;
    return [...errors, invalid(path, name, 'must be a standard resource for containers')];
  }
  if (isNative(name) || isExtended(name)) return errors;
  return [...errors, invalid(path, name, "doesn't follow extended resource name standard")];
}

export function resourceQuantity(path: FieldPath, name: string, amount: Quantity): FieldError[] {
  const fraction = isInteger(name) && amount.milliValue() % 1_000n !== 0n;
  return [...nonnegativeQuantity(path, amount), ...(fraction ? [invalid(path, amount, NOT_INTEGER)] : [])];
}

function wholePages(path: FieldPath, name: string, amount: Quantity): FieldError[] {
  if (!isHugePages(name)) return [];
  const page = quantity(name.slice(HUGE_PAGES.length))?.value();
  const isDivisible = page !== undefined && page > 0n && amount.value() % page === 0n;
  const text = amount.toString();
  return isDivisible ? [] : [invalid(path, text, `${text} is not positive integer multiple of ${name}`)];
}

export function resourceRequirements(
  path: FieldPath,
  requirements: Obj,
  podClaims: ReadonlySet<string>,
): FieldError[] {
  const limitsPath = child(path, 'limits');
  const requestsPath = child(path, 'requests');
  const limits = new Map(quantities(requirements, 'limits'));
  const requests = new Map(quantities(requirements, 'requests'));
  const errors: FieldError[] = [];
  for (const [name, amount] of limits) {
    const at = key(limitsPath, name);
    errors.push(
      ...containerResourceName(at, name),
      ...resourceQuantity(at, name, amount),
      ...wholePages(at, name, amount),
    );
  }
  for (const [name, amount] of requests) {
    const at = key(requestsPath, name);
    errors.push(...containerResourceName(at, name), ...resourceQuantity(at, name, amount));
    const limit = limits.get(name);
    if (limit === undefined) {
      if (!isOvercommitAllowed(name))
        errors.push(required(limitsPath, 'Limit must be set for non overcommitable resources'));
    } else if (!isOvercommitAllowed(name) && !amount.equals(limit)) {
      errors.push(
        invalid(requestsPath, amount.toString(), `must be equal to ${name} limit of ${limit.toString()}`),
      );
    } else if (amount.compare(limit) > 0) {
      errors.push(
        invalid(
          requestsPath,
          amount.toString(),
          `must be less than or equal to ${name} limit of ${limit.toString()}`,
        ),
      );
    }
    errors.push(...wholePages(at, name, amount));
  }
  const names = [...limits.keys(), ...requests.keys()];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory'))
    errors.push(forbidden(path, 'HugePages require cpu or memory'));
  return [...errors, ...claimNames(child(path, 'claims'), objs(requirements, 'claims'), podClaims)];
}

function claimNames(path: FieldPath, claims: readonly Obj[], podClaims: ReadonlySet<string>): FieldError[] {
  const seen = new Set<string>();
  return claims.flatMap((claim, i): FieldError[] => {
    const name = str(claim, 'name');
    const request = str(claim, 'request');
    const at = index(path, i);
    if (name === '') return [required(at)];
    const errors: FieldError[] = [];
    if (seen.has(name)) errors.push(duplicate(at, name));
    else {
      const id = request === '' ? name : `${name}/${request}`;
      if (request !== '') errors.push(...label(child(at, 'request'), request));
      if (seen.has(id)) errors.push(duplicate(at, id));
      else if (request === '')
        // All of a claim, of which some requests were named before.
        for (const other of seen) if (other.startsWith(`${name}/`)) errors.push(duplicate(at, name));
      seen.add(id);
    }
    if (!podClaims.has(name)) {
      const known = podClaims.size === 0 ? ' which is empty' : `: ${[...podClaims].sort().join(', ')}`;
      const detail = `must be one of the names in pod.spec.resourceClaims${known}`;
      errors.push({ ...notFound(at, name), detail });
    }
    return errors;
  });
}
