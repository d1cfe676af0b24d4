import type { KubernetesObject } from '../../api/meta/index.ts';
import { obj, objs, str, strs } from '../../api/validation/read.ts';
import { inRange, parseCidr, parseIp, type IpAddress } from '../../api/validation/ip.ts';

const cidr = (text: string) => parseCidr(text)!;
const LOOPBACK_4 = cidr('127.0.0.0/8');
const LOOPBACK_6 = cidr('::1/128');
/** Neither loopback nor one host of a network: what Go's IsGlobalUnicast excludes. */
const NOT_UNICAST = [
  cidr('0.0.0.0/32'),
  cidr('255.255.255.255/32'),
  cidr('169.254.0.0/16'),
  cidr('224.0.0.0/4'),
  cidr('::/128'),
  cidr('fe80::/10'),
  cidr('ff00::/8'),
];
/** A cluster on loopback has its hosts in one network of this size. */
const HOST_NETWORK_BITS = 16n;

const MAPPED_BITS = 32n;

/** An IPv4 address in IPv6 form is the IPv4 address: it must not pass as another one. */
const readIp = (text: string): IpAddress | undefined => {
  const ip = parseIp(text);
  if (ip?.family !== 6 || ip.bits >> MAPPED_BITS !== 0xffffn) return ip;
  return { family: 4, bits: ip.bits & ((1n << MAPPED_BITS) - 1n) };
};

const isLoopback = (ip: IpAddress): boolean => inRange(ip, LOOPBACK_4) || inRange(ip, LOOPBACK_6);

export interface AddressPolicy {
  /** Whether this server may be made to connect to what a node claims as its address. */
  isNodeAddress(address: string): boolean;
  /** The same for servers without pods, such as those of hand-written EndpointSlices: nothing beyond this cluster's kind. */
  isClusterAddress(address: string): boolean;
  /** The same for a pod, which lives in the range of its node, or on its node's address. */
  isPodAddress(address: string, node: KubernetesObject | undefined): boolean;
}

/**
 * Objects tell this server where to connect to, and not everyone who may write them may reach what this server can.
 * Upstream allows global unicast addresses alone. A cluster that runs on loopback itself allows its own part of it too:
 * the network of its hosts, and for pods the ranges that were given to nodes.
 */
export const addressPolicy = (advertiseAddress: string): AddressPolicy => {
  const own = readIp(advertiseAddress);
  const isOnLoopback = own !== undefined && isLoopback(own);
  const isRoutable = (ip: IpAddress): boolean =>
    !isLoopback(ip) && !NOT_UNICAST.some((range) => inRange(ip, range));
  const sharesNetwork = (ip: IpAddress): boolean =>
    own?.family === ip.family && own.bits >> HOST_NETWORK_BITS === ip.bits >> HOST_NETWORK_BITS;
  const isNodeAddress = (address: string): boolean => {
    const ip = readIp(address);
    if (ip === undefined) return false;
    return isLoopback(ip) ? isOnLoopback && sharesNetwork(ip) : isRoutable(ip);
  };
  return {
    isNodeAddress,
    isClusterAddress(address) {
      const ip = readIp(address);
      return ip !== undefined && (isLoopback(ip) ? isOnLoopback : isRoutable(ip));
    },
    isPodAddress(address, node) {
      const ip = readIp(address);
      if (ip === undefined) return false;
      if (!isLoopback(ip)) return isRoutable(ip);
      if (!isOnLoopback || node === undefined) return false;
      const spec = obj(node, 'spec');
      const ranges = [str(spec, 'podCIDR'), ...strs(spec, 'podCIDRs')];
      const isInPodRange = ranges.some((text) => {
        const range = parseCidr(text);
        return range !== undefined && inRange(ip, range);
      });
      const isHost = objs(obj(node, 'status'), 'addresses').some((one) => str(one, 'address') === address);
      return isInPodRange || (isHost && isNodeAddress(address));
    },
  };
};
