import type { V1EndpointSlice, V1Service } from '../../api/schema/index.ts';
import { canonical, SERVICE_LABEL, type ZoneSource } from '../zone/index.ts';

export interface FixedObjects {
  readonly namespaces?: readonly string[];
  readonly services?: readonly V1Service[];
  readonly slices?: readonly V1EndpointSlice[];
}

/** A zone's objects as they are given. */
export const fixedSource = ({
  namespaces = ['default', 'kube-system'],
  services = [],
  slices = [],
}: FixedObjects): ZoneSource => ({
  serial: 7,
  hasNamespace: (namespace) => namespaces.includes(namespace),
  service: (namespace, name) =>
    services.find(({ metadata }) => metadata?.namespace === namespace && metadata.name === name),
  slicesOf: (namespace, service) =>
    slices.filter(
      ({ metadata }) => metadata?.namespace === namespace && metadata.labels?.[SERVICE_LABEL] === service,
    ),
  servicesAt: (address) =>
    services.filter(({ spec }) => (spec?.clusterIPs ?? []).some((one) => canonical(one) === address)),
  slicesAt: (address) =>
    slices.filter(({ endpoints }) =>
      (endpoints ?? []).some(({ addresses }) => addresses.some((one) => canonical(one) === address)),
    ),
});

interface ServiceParts {
  readonly name: string;
  readonly namespace?: string;
  readonly addresses?: readonly string[];
  readonly ports?: NonNullable<V1Service['spec']>['ports'];
  readonly externalName?: string;
}

export const serviceOf = ({
  name,
  namespace = 'default',
  addresses = ['None'],
  ports = [{ name: 'http', port: 80, protocol: 'TCP' }],
  externalName,
}: ServiceParts): V1Service => ({
  metadata: { name, namespace },
  spec:
    externalName === undefined
      ? { clusterIP: addresses[0]!, clusterIPs: [...addresses], ports: [...(ports ?? [])] }
      : { type: 'ExternalName', externalName },
});

interface SliceParts {
  readonly service: string;
  readonly namespace?: string;
  readonly endpoints: readonly {
    readonly address: string;
    readonly hostname?: string;
    readonly ready?: boolean;
  }[];
  readonly ports?: NonNullable<V1EndpointSlice['ports']>;
}

export const sliceOf = ({
  service,
  namespace = 'default',
  endpoints,
  ports = [{ name: 'http', port: 8080, protocol: 'TCP' }],
}: SliceParts): V1EndpointSlice => ({
  metadata: { name: `${service}-1`, namespace, labels: { [SERVICE_LABEL]: service } },
  addressType: endpoints[0]?.address.includes(':') ? 'IPv6' : 'IPv4',
  endpoints: endpoints.map(({ address, hostname, ready = true }) => ({
    addresses: [address],
    conditions: { ready },
    ...(hostname !== undefined && { hostname }),
  })),
  ports: [...ports],
});

/** Every kind of object that the specification has records for. */
export const SPECIFIED: FixedObjects = {
  services: [
    serviceOf({
      name: 'kubernetes',
      addresses: ['10.3.0.1'],
      ports: [{ name: 'https', port: 443, protocol: 'TCP' }],
    }),
    serviceOf({ name: 'dual', addresses: ['10.3.0.2', '2001:db8::1'] }),
    serviceOf({ name: 'headless' }),
    serviceOf({ name: 'empty' }),
    serviceOf({ name: 'no-ports', ports: [] }),
    serviceOf({ name: 'foo', externalName: 'www.example.com' }),
    serviceOf({ name: 'inside', externalName: 'dual.default.svc.cluster.local' }),
    serviceOf({ name: 'to-nothing', externalName: 'nothing.default.svc.cluster.local' }),
    serviceOf({ name: 'circle', externalName: 'circle.default.svc.cluster.local' }),
    serviceOf({
      name: 'kube-dns',
      namespace: 'kube-system',
      addresses: ['10.3.0.10'],
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      ],
    }),
  ],
  slices: [
    sliceOf({
      service: 'headless',
      endpoints: [
        { address: '10.3.0.100', hostname: 'my-pet' },
        { address: '10.3.0.101' },
        { address: '10.3.0.102', ready: false },
      ],
    }),
    sliceOf({ service: 'empty', endpoints: [{ address: '10.3.0.110', ready: false }] }),
    sliceOf({ service: 'no-ports', endpoints: [{ address: '10.3.0.120' }], ports: [] }),
    sliceOf({ service: 'kubernetes', endpoints: [{ address: '10.3.0.130' }] }),
  ],
};
