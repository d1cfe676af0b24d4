/**
 * Which addresses and ports users' objects (Services, hostPorts) may listen on. Every address of a cluster is a real
 * address of one machine, so a claim of a control plane's address, of another cluster's network or of all addresses
 * would intercept other people's connections.
 */
export interface BindPlace {
  readonly address: string;
  readonly port: number;
}

/** Addresses from `first` to `last`, both included, as numbers. */
export interface Ipv4Range {
  readonly first: number;
  readonly last: number;
  readonly text: string;
}

export interface BindRules {
  /** Only these may be listened on. One that reaches beyond loopback must come from the cluster's configuration. */
  readonly ranges: readonly Ipv4Range[];
  /** The component that has this place, now or after its next start; undefined: none. */
  componentAt(place: BindPlace): string | undefined;
}

/** Where components listen unless their manifests say otherwise. */
export const PORTS = {
  apiServer: 6443,
  etcdClient: 2379,
  etcdPeer: 2380,
  etcdMetrics: 2381,
  controllerManager: 10_257,
  cloudControllerManager: 10_258,
  scheduler: 10_259,
  metricsServer: 4_443,
  kubelet: 10_250,
  proxyMetrics: 10_249,
  proxyHealth: 10_256,
  /** Above 1023, so that no one needs to be root; the Service in front of it has port 53. */
  dns: 10_053,
  dnsMetrics: 9_153,
} as const;

const ON_EVERY_NODE: ReadonlyMap<number, string> = new Map([
  [PORTS.kubelet, 'kubelet'],
  [PORTS.proxyMetrics, 'kube-proxy'],
  [PORTS.proxyHealth, 'kube-proxy'],
]);
const ON_CONTROL_PLANES: ReadonlyMap<number, string> = new Map([
  [PORTS.apiServer, 'kube-apiserver'],
  [PORTS.etcdClient, 'etcd'],
  [PORTS.etcdPeer, 'etcd'],
  [PORTS.etcdMetrics, 'etcd'],
  [PORTS.controllerManager, 'kube-controller-manager'],
  [PORTS.cloudControllerManager, 'cloud-controller-manager'],
  [PORTS.scheduler, 'kube-scheduler'],
  [PORTS.metricsServer, 'metrics-server'],
  [PORTS.dns, 'kube-dns'],
  [PORTS.dnsMetrics, 'kube-dns'],
]);

/** Also while it is down: a port that is free during a restart must not be taken. */
export const componentOnNode = (port: number, isControlPlane: boolean): string | undefined =>
  ON_EVERY_NODE.get(port) ?? (isControlPlane ? ON_CONTROL_PLANES.get(port) : undefined);

const BITS = 32;
const OCTET = /^(?:0|[1-9]\d{0,2})$/;

/** Undefined: not a dotted IPv4 address. Leading zeros are refused, as they mean octal to some programs. */
export const parseIpv4 = (text: string): number | undefined => {
  const octets = text.split('.');
  if (octets.length !== 4 || !octets.every((octet) => OCTET.test(octet) && Number(octet) <= 255))
    return undefined;
  return octets.reduce((sum, octet) => sum * 256 + Number(octet), 0);
};

/** `127.20.8.0/21`, or one address; undefined: neither. */
export const parseIpv4Range = (text: string): Ipv4Range | undefined => {
  const [addressText = '', bitsText = String(BITS), ...rest] = text.split('/');
  const address = parseIpv4(addressText);
  const bits = /^\d{1,2}$/.test(bitsText) ? Number(bitsText) : NaN;
  if (address === undefined || !(bits <= BITS) || rest.length > 0) return undefined;
  const size = 2 ** (BITS - bits);
  const first = Math.floor(address / size) * size;
  return { first, last: first + size - 1, text };
};

export const inIpv4Range = ({ first, last }: Ipv4Range, address: string): boolean => {
  const number = parseIpv4(address);
  return number !== undefined && number >= first && number <= last;
};

export const LOOPBACK: Ipv4Range = parseIpv4Range('127.0.0.0/8')!;
const UNSPECIFIED = 0;
const PORT_MAX = 65_535;

/** Undefined: the place may be listened on; else the reason, which follows the object's name in an event. */
export const whyNotBind = (place: BindPlace, rules: BindRules): string | undefined => {
  const { address, port } = place;
  const number = parseIpv4(address);
  if (number === undefined) return `${JSON.stringify(address)} is not an IPv4 address`;
  if (!Number.isInteger(port) || port < 1 || port > PORT_MAX)
    return `port ${port} is not between 1 and 65535`;
  if (number === UNSPECIFIED) return `${address} stands for every address of the machine`;
  if (!rules.ranges.some(({ first, last }) => number >= first && number <= last)) {
    const ranges = rules.ranges.map(({ text }) => text).join(', ');
    return `address ${address} is not allowed; allowed: ${ranges === '' ? 'none' : ranges}`;
  }
  const component = rules.componentAt(place);
  return component === undefined ? undefined : `${address}:${port} is reserved for ${component}`;
};

/** What a kubelet may open for `hostPort` and for the ports of pods in the host's network: its own address only. */
export const nodeBindRules = (nodeAddress: string, isControlPlane: boolean): BindRules => {
  const own = parseIpv4Range(nodeAddress);
  return {
    ranges: own ? [own] : [],
    componentAt: ({ port }) => componentOnNode(port, isControlPlane),
  };
};

/** The address that a `hostIP` means on a node: unset and the wildcards are all of its addresses, and it has one. */
export const hostAddress = (hostIP: string | undefined, nodeAddress: string): string =>
  hostIP === undefined || hostIP === '' || hostIP === '0.0.0.0' || hostIP === '::' ? nodeAddress : hostIP;
