import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { V1Endpoints, V1EndpointSlice } from '../../../api/schema/index.ts';
import { ensureObject } from '../ensure.ts';
import type { ObjectWriter } from '../object-writer.ts';

const NAMESPACE = 'default';
const NAME = 'kubernetes';
const ENDPOINTS = { group: '', resource: 'endpoints' };
const SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' };
/** The mirroring controller leaves these endpoints alone: their slice is kept here. */
const SKIP_MIRROR = { 'endpointslice.kubernetes.io/skip-mirror': 'true' };
const SLICE_LABELS = { 'kubernetes.io/service-name': NAME };

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one) => b.includes(one));

const subsetsOf = (addresses: readonly string[], port: number): V1Endpoints['subsets'] & object =>
  addresses.length === 0
    ? []
    : [
        {
          addresses: [...addresses].sort().map((ip) => ({ ip })),
          ports: [{ name: 'https', port, protocol: 'TCP' }],
        },
      ];

const endpointsAreRight = (stored: V1Endpoints, addresses: readonly string[], port: number): boolean => {
  const subsets = stored.subsets ?? [];
  const hasLabel = Object.entries(SKIP_MIRROR).every(
    ([key, value]) => stored.metadata?.labels?.[key] === value,
  );
  if (!hasLabel || subsets.length !== (addresses.length === 0 ? 0 : 1)) return false;
  const [subset] = subsets;
  return (
    sameSet(
      (subset?.addresses ?? []).map(({ ip }) => ip),
      addresses,
    ) &&
    (addresses.length === 0 || (subset?.ports?.length === 1 && subset.ports[0]?.port === port))
  );
};

const sliceOf = (addresses: readonly string[], port: number): KubernetesObject & V1EndpointSlice => {
  const isIpv6 = addresses.length > 0 && addresses.every((address) => address.includes(':'));
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: NAMESPACE, name: NAME, labels: SLICE_LABELS },
    addressType: isIpv6 ? 'IPv6' : 'IPv4',
    endpoints: [...addresses]
      .filter((address) => address.includes(':') === isIpv6)
      .sort()
      .map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: addresses.length === 0 ? [] : [{ name: 'https', port, protocol: 'TCP' }],
  };
};

const sliceIsRight = (stored: V1EndpointSlice, wanted: V1EndpointSlice): boolean => {
  const addressesOf = ({ endpoints }: V1EndpointSlice): string[] =>
    (endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []);
  return (
    sameSet(addressesOf(stored), addressesOf(wanted)) &&
    (stored.endpoints ?? []).every(({ conditions }) => conditions?.ready === true) &&
    (stored.ports ?? []).length === (wanted.ports ?? []).length &&
    stored.ports?.[0]?.port === wanted.ports?.[0]?.port &&
    stored.metadata?.labels?.['kubernetes.io/service-name'] === NAME
  );
};

/** Makes Endpoints and EndpointSlice of the `kubernetes` service show exactly these addresses. */
export const writeEndpoints = async (
  writer: ObjectWriter,
  addresses: readonly string[],
  port: number,
): Promise<void> => {
  const endpoints: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { namespace: NAMESPACE, name: NAME, labels: SKIP_MIRROR },
    subsets: subsetsOf(addresses, port),
  };
  await ensureObject(writer, ENDPOINTS, {
    object: endpoints,
    revise: (stored) =>
      endpointsAreRight(stored as V1Endpoints, addresses, port)
        ? undefined
        : {
            ...stored,
            metadata: { ...stored.metadata, labels: { ...stored.metadata?.labels, ...SKIP_MIRROR } },
            subsets: endpoints['subsets'],
          },
  });
  const slice = sliceOf(addresses, port);
  await ensureObject(writer, SLICES, {
    object: slice,
    revise: (stored) =>
      sliceIsRight(stored as unknown as V1EndpointSlice, slice)
        ? undefined
        : {
            ...stored,
            metadata: { ...stored.metadata, labels: { ...stored.metadata?.labels, ...SLICE_LABELS } },
            endpoints: slice.endpoints,
            ports: slice.ports,
          },
  });
};
