import type { KubernetesObject } from '../../meta/object-meta.ts';
import { groupResourceText } from '../../meta/group-version.ts';
import { labelsText, loadBalancerText, selectorText, someOf } from './formats.ts';
import {
  AGE,
  ageOf,
  at,
  column,
  count,
  list,
  NAME,
  nameOf,
  text,
  textOr,
  wide,
  type TablePrinter,
} from './printer.ts';

const SHOWN_MAX = 3;

const externalIp = (service: KubernetesObject): string => {
  const given = (at(service, 'spec', 'externalIPs') as string[] | undefined) ?? [];
  switch (at(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return given.join(',') || '<none>';
    case 'LoadBalancer': {
      const balanced = loadBalancerText(at(service, 'status'));
      return [...(balanced === '' ? [] : [balanced]), ...given].join(',') || '<pending>';
    }
    case 'ExternalName':
      return text(service, 'spec', 'externalName');
    default:
      return '<unknown>';
  }
};

const servicePorts = (service: KubernetesObject): string =>
  list(service, 'spec', 'ports')
    .map((port) => {
      const node = count(port, 'nodePort');
      return `${count(port, 'port')}${node > 0 ? `:${node}` : ''}/${text(port, 'protocol')}`;
    })
    .join(',') || '<none>';

const SERVICE: TablePrinter = {
  columns: [
    NAME,
    column('Type', 'How the service is reached.'),
    column('Cluster-IP', 'Its address inside the cluster.'),
    column('External-IP', 'Its addresses outside the cluster.'),
    column('Port(s)', 'Its ports, and the node ports behind a colon.'),
    AGE,
    wide('Selector', 'The labels of the pods behind it.'),
  ],
  cells: (service, nowMs) => [
    nameOf(service),
    text(service, 'spec', 'type'),
    (at(service, 'spec', 'clusterIPs') as string[] | undefined)?.[0] ?? '<none>',
    externalIp(service),
    servicePorts(service),
    ageOf(service, nowMs),
    labelsText(at(service, 'spec', 'selector')),
  ],
};

const hostPort = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

const endpointsText = (endpoints: KubernetesObject): string => {
  const subsets = list(endpoints, 'subsets');
  if (subsets.length === 0) return '<none>';
  const all = subsets.flatMap((subset) => {
    const addresses = list(subset, 'addresses').map((address) => text(address, 'ip'));
    const ports = list(subset, 'ports');
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((address) => hostPort(address, count(port, 'port'))));
  });
  return someOf(all, SHOWN_MAX);
};

const ENDPOINTS: TablePrinter = {
  columns: [NAME, column('Endpoints', 'The addresses and ports behind the service.'), AGE],
  cells: (object, nowMs) => [nameOf(object), endpointsText(object), ageOf(object, nowMs)],
};

const ENDPOINT_SLICE: TablePrinter = {
  columns: [
    NAME,
    column('AddressType', 'The family of the addresses.'),
    column('Ports', 'The ports of every endpoint.'),
    column('Endpoints', 'The addresses of the endpoints.'),
    AGE,
  ],
  cells(object, nowMs) {
    const ports = list(object, 'ports').map((port) => {
      const name = at(port, 'name') as string | undefined;
      return at(port, 'port') === undefined ? (name ?? '*') : text(port, 'port');
    });
    const addresses = list(object, 'endpoints').flatMap(
      (endpoint) => (endpoint['addresses'] as string[] | undefined) ?? [],
    );
    return [
      nameOf(object),
      text(object, 'addressType'),
      someOf(ports, SHOWN_MAX) || '<unset>',
      someOf(addresses, SHOWN_MAX) || '<unset>',
      ageOf(object, nowMs),
    ];
  },
};

/** Rules without a host count towards how many more there are, as upstream counts. */
const hostsText = (ingress: KubernetesObject): string => {
  const rules = list(ingress, 'spec', 'rules');
  const shown: string[] = [];
  let more = false;
  for (const rule of rules) {
    if (shown.length === SHOWN_MAX) more = true;
    const host = text(rule, 'host');
    if (!more && host !== '') shown.push(host);
  }
  if (shown.length === 0) return '*';
  return more ? `${shown.join(',')} + ${rules.length - SHOWN_MAX} more...` : shown.join(',');
};

const INGRESS: TablePrinter = {
  columns: [
    NAME,
    column('Class', 'The class of controllers that serve it.'),
    column('Hosts', 'The host names it answers to.'),
    column('Address', 'Where it is reached.'),
    column('Ports', 'The ports it listens on.'),
    AGE,
  ],
  cells: (object, nowMs) => [
    nameOf(object),
    textOr('<none>', object, 'spec', 'ingressClassName'),
    hostsText(object),
    loadBalancerText(at(object, 'status')),
    list(object, 'spec', 'tls').length > 0 ? '80, 443' : '80',
    ageOf(object, nowMs),
  ],
};

const INGRESS_CLASS: TablePrinter = {
  columns: [
    NAME,
    column('Controller', 'The controller that serves the class.'),
    column('Parameters', 'The object that configures it.'),
    AGE,
  ],
  cells(object, nowMs) {
    const isDefault =
      object.metadata?.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true';
    const parameters = at(object, 'spec', 'parameters');
    const kind = groupResourceText({
      group: text(parameters, 'apiGroup'),
      resource: text(parameters, 'kind'),
    });
    return [
      nameOf(object) + (isDefault ? ' (default)' : ''),
      text(object, 'spec', 'controller'),
      parameters === undefined ? '<none>' : `${kind}/${text(parameters, 'name')}`,
      ageOf(object, nowMs),
    ];
  },
};

const NETWORK_POLICY: TablePrinter = {
  columns: [NAME, column('Pod-Selector', 'The labels of the pods it holds for.'), AGE],
  cells: (object, nowMs) => [
    nameOf(object),
    selectorText(at(object, 'spec', 'podSelector') ?? {}),
    ageOf(object, nowMs),
  ],
};

const SERVICE_CIDR: TablePrinter = {
  columns: [NAME, column('CIDRs', 'The ranges that service addresses are taken from.'), AGE],
  cells: (object, nowMs) => [
    nameOf(object),
    ((at(object, 'spec', 'cidrs') as string[] | undefined) ?? []).join(','),
    ageOf(object, nowMs),
  ],
};

const IP_ADDRESS: TablePrinter = {
  columns: [NAME, column('ParentRef', 'The object that holds the address.')],
  cells(object) {
    const parent = at(object, 'spec', 'parentRef');
    const kind = groupResourceText({ group: text(parent, 'group'), resource: text(parent, 'resource') });
    const parts = [kind.toLowerCase(), text(parent, 'namespace'), text(parent, 'name')];
    return [nameOf(object), parent === undefined ? '<none>' : parts.filter((part) => part !== '').join('/')];
  },
};

export const NETWORKING_PRINTERS: Readonly<Record<string, TablePrinter>> = {
  '/Service': SERVICE,
  '/Endpoints': ENDPOINTS,
  'discovery.k8s.io/EndpointSlice': ENDPOINT_SLICE,
  'networking.k8s.io/Ingress': INGRESS,
  'networking.k8s.io/IngressClass': INGRESS_CLASS,
  'networking.k8s.io/NetworkPolicy': NETWORK_POLICY,
  'networking.k8s.io/ServiceCIDR': SERVICE_CIDR,
  'networking.k8s.io/IPAddress': IP_ADDRESS,
};
