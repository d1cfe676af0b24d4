import type { V1EndpointSlice, V1Service } from '../../api/schema/index.ts';

/** What a zone is made of. All names are lower case, as those of objects are. */
export interface ZoneSource {
  hasNamespace(namespace: string): boolean;
  service(namespace: string, name: string): V1Service | undefined;
  slicesOf(namespace: string, service: string): readonly V1EndpointSlice[];
  /** Services that have this cluster address. */
  servicesAt(address: string): readonly V1Service[];
  /** Slices with an endpoint of this address. */
  slicesAt(address: string): readonly V1EndpointSlice[];
  /** Grows with every change. */
  readonly serial: number;
}

export interface ZoneConfig {
  /** Absolute: `cluster.local.` */
  readonly zone: string;
  readonly ttlSeconds: number;
  /** The Service of this server, as `namespace/name`: its name is the name server of the zone. */
  readonly service: { readonly namespace: string; readonly name: string };
}

export const SERVICE_LABEL = 'kubernetes.io/service-name';
