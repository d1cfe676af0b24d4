import { parseIp, formatIp } from '../../api/validation/ip.ts';
import type { V1EndpointSlice, V1Service } from '../../api/schema/index.ts';

/** Somewhere that a name leads to. */
export interface Place {
  readonly address: string;
  /** Undefined: the endpoint declares no port. */
  readonly port: { readonly number: number; readonly name: string; readonly protocol: string } | undefined;
  /** The endpoint's own name below the service; undefined for the service's address. */
  readonly hostname: string | undefined;
}

/** RFC 5952 for IPv6, so that the same address is the same text everywhere. */
export const canonical = (address: string): string => {
  const parsed = parseIp(address);
  return parsed ? formatIp(parsed) : address;
};

/** As CoreDNS: the endpoint's hostname, else its address with dashes. */
export const endpointHostname = (hostname: string | undefined, address: string): string => {
  if (hostname !== undefined && hostname !== '') return hostname;
  const dashed = address.replace(/[.:]/g, '-');
  return dashed.endsWith('-') ? `${dashed}0` : dashed;
};

export const isHeadless = ({ spec }: V1Service): boolean =>
  spec?.clusterIP === 'None' || (spec?.clusterIPs ?? []).includes('None');

/**
 * Every ready endpoint with each of its ports. A slice says `ready` also for those that are not, where the Service has
 * `publishNotReadyAddresses`: that is the endpoints controller's to decide.
 */
export const placesOf = (slices: readonly V1EndpointSlice[]): readonly Place[] =>
  slices.flatMap(({ endpoints, ports, addressType }) =>
    addressType === 'FQDN'
      ? []
      : (endpoints ?? [])
          .filter(({ conditions }) => conditions?.ready !== false)
          .flatMap(({ addresses, hostname }) =>
            addresses.flatMap((address): Place[] => {
              const place = { address, hostname: endpointHostname(hostname, address) };
              if ((ports ?? []).length === 0) return [{ ...place, port: undefined }];
              return (ports ?? []).map(({ port, name, protocol }) => ({
                ...place,
                port: { number: port ?? 0, name: name ?? '', protocol: protocol ?? 'TCP' },
              }));
            }),
          ),
  );

/** The cluster addresses of a service with each of its ports. */
export const servicePlaces = ({ spec }: V1Service): readonly Place[] => {
  const addresses = spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP]);
  return (spec?.ports ?? []).flatMap(({ port, name, protocol }) =>
    addresses
      .filter((address) => address !== '')
      .map((address) => ({
        address,
        hostname: undefined,
        port: { number: port, name: name ?? '', protocol: protocol ?? 'TCP' },
      })),
  );
};
