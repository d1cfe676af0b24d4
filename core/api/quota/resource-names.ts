export const REQUESTS_PREFIX = 'requests.';
const HUGE_PAGES_PREFIX = 'hugepages-';
const DEVICE_CLASS_PREFIX = 'deviceclass.resource.kubernetes.io/';

export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES_PREFIX);

/** Kubernetes' own: without a domain, or within kubernetes.io. */
export const isNativeResource = (name: string): boolean =>
  !name.includes('/') || name.includes('kubernetes.io/');

export const isExtendedResource = (name: string): boolean =>
  !isNativeResource(name) && !name.startsWith(REQUESTS_PREFIX);

/** What a pod requests beyond cpu, memory and the like; also a device class by its own name. */
export const isChargedAsExtended = (name: string): boolean =>
  isExtendedResource(name) || name.startsWith(DEVICE_CLASS_PREFIX);

/** A quota names extended resources by their requests alone: they cannot be overcommitted. */
export const isExtendedQuotaName = (name: string): boolean =>
  name.startsWith(REQUESTS_PREFIX) &&
  (!isNativeResource(name) || name.startsWith(`${REQUESTS_PREFIX}${DEVICE_CLASS_PREFIX}`));

/** Resources that a pod may set for all of its containers at the same time. */
export const isPodLevelResource = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || isHugePages(name);
