import type { KubernetesObject } from '../../api/meta/index.ts';
import { obj, type Obj } from '../../api/validation/read.ts';
import type { ObjectReader } from '../storage/object-reader.ts';
import type { ServiceReference } from './api-service.ts';

export const SERVICES = { group: '', resource: 'services' } as const;
export const ENDPOINT_SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' } as const;
const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** Which Service a slice belongs to, as `namespace/name`. */
export const serviceKeyOfSlice = ({ metadata }: KubernetesObject): string =>
  `${metadata?.namespace ?? ''}/${metadata?.labels?.[SERVICE_NAME_LABEL] ?? ''}`;

export const slicesOf = async (
  reader: ObjectReader,
  { namespace, name }: ServiceReference,
): Promise<readonly KubernetesObject[]> =>
  (await reader.list(ENDPOINT_SLICES, namespace)).filter(
    (slice) => slice.metadata?.labels?.[SERVICE_NAME_LABEL] === name,
  );

export const isReady = (endpoint: Obj): boolean => obj(endpoint, 'conditions')['ready'] !== false;
