import { inIpv4Range, parseIpv4Range } from '../../../../base/bind-rules.ts';

/** What a container may talk to: ranges such as 127.64.0.0/16, and itself. */
export type Networks = readonly string[];

export const isWithin = (address: string, networks: Networks): boolean =>
  networks.some((network) => {
    const range = parseIpv4Range(network);
    return range !== undefined && inIpv4Range(range, address);
  });
