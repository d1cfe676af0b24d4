import {
  label,
  labels,
  oneOf,
  portNumber,
  portNumberOrName,
  qualifiedName,
  subdomain,
  supportedOnly,
} from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, notSupported, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import { NEWEST_MINOR, releaseOf } from '../../releases/release.ts';
import { nameIsDns1035Label, nameIsDnsLabel } from '../../field/formats.ts';
import { cidr, endpointIp, ip, parseIp } from '../ip.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, int, maybeObj, num, obj, objs, str, strMap, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';
import { PROTOCOLS } from './containers.ts';

/** Services, after cluster addresses and node ports have been allocated. */

const META = { namespaced: true, name: nameIsDns1035Label };
/** A service may be named like a pod since RelaxedServiceNameValidation. */
const RELAXED_META = { namespaced: true, name: nameIsDnsLabel };
const DISTRIBUTIONS = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const FAMILIES = ['IPv4', 'IPv6'];
const CLIENT_IP_SECONDS_MAX = 86_400;

const typeOf = (service: Obj): string => str(obj(service, 'spec'), 'type');
const clusterIps = (service: Obj): readonly string[] => strs(obj(service, 'spec'), 'clusterIPs');
const isHeadless = (service: Obj): boolean => {
  const ips = clusterIps(service);
  return ips.length === 1 && ips[0] === 'None';
};

function ports(list: readonly Obj[]): FieldError[] {
  const names = new Set<string>();
  const errors = list.flatMap((port, i) => {
    const at = index('spec.ports', i);
    const name = str(port, 'name');
    const found: FieldError[] = [];
    if (name === '') {
      if (list.length > 1) found.push(required(child(at, 'name')));
    } else {
      found.push(...label(child(at, 'name'), name));
      if (names.has(name)) found.push(duplicate(child(at, 'name'), name));
      names.add(name);
    }
    return [
      ...found,
      ...portNumber(child(at, 'port'), int(port, 'port')),
      ...oneOf(child(at, 'protocol'), str(port, 'protocol'), PROTOCOLS),
      ...portNumberOrName(child(at, 'targetPort'), port['targetPort']),
      ...(has(port, 'appProtocol') ? qualifiedName(child(at, 'appProtocol'), str(port, 'appProtocol')) : []),
    ];
  });
  return errors;
}

function repeatedPorts(service: Obj): FieldError[] {
  const seen = new Set<string>();
  const seenNode = new Set<string>();
  const list = objs(obj(service, 'spec'), 'ports');
  const errors: FieldError[] = [];
  list.forEach((port, i) => {
    const nodePort = int(port, 'nodePort');
    const at = child(index('spec.ports', i), 'nodePort');
    if (nodePort === 0) return;
    if (typeOf(service) === 'ClusterIP')
      errors.push(forbidden(at, "may not be used when `type` is 'ClusterIP'"));
    const id = `${str(port, 'protocol')}/${nodePort}`;
    if (seenNode.has(id)) errors.push(duplicate(at, nodePort));
    seenNode.add(id);
  });
  list.forEach((port, i) => {
    const id = `${str(port, 'protocol')}/${int(port, 'port')}`;
    if (seen.has(id))
      // Upstream shows its internal type here: every field of it, by its Go name.
      errors.push(
        duplicate(index('spec.ports', i), {
          Name: '',
          Protocol: str(port, 'protocol'),
          AppProtocol: null,
          Port: int(port, 'port'),
          TargetPort: 0,
          NodePort: 0,
        }),
      );
    seen.add(id);
  });
  return errors;
}

function byType(service: Obj): FieldError[] {
  const spec = obj(service, 'spec');
  const type = typeOf(service);
  if (type === 'LoadBalancer' || type === 'NodePort')
    return isHeadless(service)
      ? [invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`)]
      : [];
  if (type !== 'ExternalName') return [];
  const cname = str(spec, 'externalName').replace(/\.$/, '');
  return [
    ...['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].flatMap((name) =>
      has(spec, name) && !(Array.isArray(spec[name]) && spec[name].length === 0)
        ? [forbidden(child('spec', name), 'may not be set for ExternalName services')]
        : [],
    ),
    ...(cname === '' ? [required('spec.externalName')] : subdomain('spec.externalName', cname)),
  ];
}

function sessionAffinity(spec: Obj): FieldError[] {
  const affinity = str(spec, 'sessionAffinity');
  const errors = oneOf('spec.sessionAffinity', affinity, ['ClientIP', 'None']);
  const path = 'spec.sessionAffinityConfig';
  if (affinity === 'None' && has(spec, 'sessionAffinityConfig'))
    errors.push(forbidden(path, 'must not be set when session affinity is None'));
  if (affinity !== 'ClientIP') return errors;
  const config = maybeObj(spec, 'sessionAffinityConfig');
  const seconds = config && num(obj(config, 'clientIP'), 'timeoutSeconds');
  const why = 'when session affinity type is ClientIP';
  if (config === undefined) return [...errors, required(path, why)];
  if (!has(config, 'clientIP')) return [...errors, required(child(path, 'clientIP'), why)];
  if (seconds === undefined) return [...errors, required(child(path, 'clientIP', 'timeoutSeconds'), why)];
  return seconds > 0 && seconds <= CLIENT_IP_SECONDS_MAX
    ? errors
    : [
        ...errors,
        invalid(
          child(path, 'clientIP', 'timeoutSeconds'),
          seconds,
          `must be greater than 0 and less than ${CLIENT_IP_SECONDS_MAX}`,
        ),
      ];
}

/** Also asked before addresses are taken, so that no one looks for a place for a text that is none. */
export function clusterIpErrors(service: Obj): FieldError[] {
  if (typeOf(service) === 'ExternalName') return [];
  const spec = obj(service, 'spec');
  const first = str(spec, 'clusterIP');
  const ips = clusterIps(service);
  const path = 'spec.clusterIPs';
  const families = strs(spec, 'ipFamilies');
  const errors: FieldError[] = [];
  if (first !== '' && ips.length === 0) errors.push(required(path));
  else if (first !== '' && ips[0] !== first)
    errors.push(invalid(path, ips, 'first value must match `clusterIP`'));
  else if (first === '' && ips.length > 0)
    errors.push(invalid(path, ips, 'must be empty when `clusterIP` is not specified'));
  const seen = new Set<string>();
  families.forEach((family, i) => {
    if (!FAMILIES.includes(family)) errors.push(notSupported(index('spec.ipFamilies', i), family, FAMILIES));
    if (seen.has(family)) errors.push(duplicate(index('spec.ipFamilies', i), family));
    seen.add(family);
  });
  if (
    has(spec, 'ipFamilyPolicy') &&
    !['PreferDualStack', 'RequireDualStack', 'SingleStack'].includes(str(spec, 'ipFamilyPolicy'))
  )
    errors.push(
      notSupported('spec.ipFamilyPolicy', str(spec, 'ipFamilyPolicy'), [
        'PreferDualStack',
        'RequireDualStack',
        'SingleStack',
      ]),
    );
  const wrong = ips.flatMap((address, i) =>
    i === 0 && address === 'None' ? [] : ip(index(path, i), address),
  );
  if (ips.length > 1 && ips[0] === 'None')
    wrong.push(invalid(path, ips, "'None' must be the first and only value"));
  errors.push(...wrong);
  if (ips.length > 2) errors.push(invalid(path, ips, 'may only hold up to 2 values'));
  if (wrong.length > 0) return errors;
  const familyOf = (address: string): number | undefined => parseIp(address)?.family;
  if (ips.length > 1 && new Set(ips.map(familyOf)).size !== ips.length)
    errors.push(invalid(path, ips, 'may specify no more than one IP for each IP family'));
  if (!isHeadless(service))
    ips.slice(0, families.length).forEach((address, i) => {
      const family = families[i] ?? '';
      if (`IPv${familyOf(address)}` !== family)
        errors.push(
          invalid(
            index(path, i),
            address,
            `expected an ${family} value as indicated by \`ipFamilies[${i}]\``,
          ),
        );
    });
  return errors;
}

function loadBalancer(service: Obj): FieldError[] {
  const spec = obj(service, 'spec');
  const isBalanced = typeOf(service) === 'LoadBalancer';
  const only = "may only be used when `type` is 'LoadBalancer'";
  const errors: FieldError[] = [];
  const ranges = strs(spec, 'loadBalancerSourceRanges');
  if (ranges.length > 0 && !isBalanced) errors.push(forbidden('spec.LoadBalancerSourceRanges', only));
  errors.push(...ranges.flatMap((range, i) => cidr(index('spec.LoadBalancerSourceRanges', i), range.trim())));
  if (has(spec, 'allocateLoadBalancerNodePorts') && !isBalanced)
    errors.push(forbidden('spec.allocateLoadBalancerNodePorts', only));
  if (!has(spec, 'allocateLoadBalancerNodePorts') && isBalanced)
    errors.push(required('allocateLoadBalancerNodePorts'));
  if (has(spec, 'loadBalancerClass'))
    errors.push(
      ...(isBalanced
        ? qualifiedName('spec.loadBalancerClass', str(spec, 'loadBalancerClass'))
        : [forbidden('spec.loadBalancerClass', only)]),
    );
  return errors;
}

function trafficPolicies(service: Obj): FieldError[] {
  const spec = obj(service, 'spec');
  const type = typeOf(service);
  const isReachable =
    type === 'LoadBalancer' ||
    type === 'NodePort' ||
    (type === 'ClusterIP' && strs(spec, 'externalIPs').length > 0);
  const external = str(spec, 'externalTrafficPolicy');
  const healthPort = int(spec, 'healthCheckNodePort');
  const isBalanced = type === 'LoadBalancer';
  const errors: FieldError[] = [];
  if (isReachable) errors.push(...oneOf('spec.externalTrafficPolicy', external, ['Cluster', 'Local']));
  else if (external !== '')
    errors.push(
      invalid('spec.externalTrafficPolicy', external, 'may only be set for externally-accessible services'),
    );
  if (isBalanced && external === 'Local')
    errors.push(
      ...(healthPort === 0
        ? [required('spec.healthCheckNodePort')]
        : portNumber('spec.healthCheckNodePort', healthPort)),
    );
  else if (healthPort !== 0)
    errors.push(
      invalid(
        'spec.healthCheckNodePort',
        healthPort,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ),
    );
  if (has(spec, 'internalTrafficPolicy'))
    errors.push(
      ...supportedOnly('spec.internalTrafficPolicy', str(spec, 'internalTrafficPolicy'), [
        'Cluster',
        'Local',
      ]),
    );
  else if (type === 'NodePort' || isBalanced || type === 'ClusterIP')
    errors.push(required('spec.internalTrafficPolicy'));
  if (has(spec, 'trafficDistribution'))
    errors.push(
      ...supportedOnly('spec.trafficDistribution', str(spec, 'trafficDistribution'), DISTRIBUTIONS),
    );
  return errors;
}

function serviceErrors(service: Obj): FieldError[] {
  const spec = obj(service, 'spec');
  const list = objs(spec, 'ports');
  return [
    ...(list.length === 0 && !isHeadless(service) && typeOf(service) !== 'ExternalName'
      ? [required('spec.ports')]
      : []),
    ...byType(service),
    ...ports(list),
    ...labels('spec.selector', strMap(spec, 'selector')),
    ...sessionAffinity(spec),
    ...clusterIpErrors(service),
    ...strs(spec, 'externalIPs').flatMap((address, i) => endpointIp(index('spec.externalIPs', i), address)),
    ...oneOf('spec.type', typeOf(service), TYPES),
    ...repeatedPorts(service),
    ...loadBalancer(service),
    ...trafficPolicies(service),
  ];
}

function clusterIpChanges(service: Obj, before: Obj): FieldError[] {
  if (typeOf(service) === 'ExternalName' || typeOf(before) === 'ExternalName') return [];
  if (isHeadless(service) && isHeadless(before)) return [];
  const [now, old] = [clusterIps(service), clusterIps(before)];
  const at = (i: number): FieldPath => index('spec.clusterIPs', i);
  if (now.length === old.length)
    return old.flatMap((address, i) =>
      address === now[i] ? [] : [invalid(at(i), now, 'may not change once set')],
    );
  const errors: FieldError[] = [];
  if (now.length === 0) errors.push(invalid(at(0), now, 'primary clusterIP can not be unset'));
  else if (old.length > 0 && now[0] !== old[0]) errors.push(invalid(at(0), now, 'may not change once set'));
  const policy = str(obj(service, 'spec'), 'ipFamilyPolicy');
  if (old.length > now.length && now.length === 1 && policy !== 'SingleStack')
    errors.push(
      invalid(
        'spec.ipFamilyPolicy',
        policy === '' ? null : policy,
        "must be set to 'SingleStack' when releasing the secondary clusterIP",
      ),
    );
  return errors;
}

function serviceUpdate(service: Obj, before: Obj): FieldError[] {
  const [spec, old] = [obj(service, 'spec'), obj(before, 'spec')];
  const staysBalanced = typeOf(service) === 'LoadBalancer' && typeOf(before) === 'LoadBalancer';
  return [
    ...objectMetaUpdate(service, before),
    ...clusterIpChanges(service, before),
    ...(staysBalanced && spec['loadBalancerClass'] !== old['loadBalancerClass']
      ? [invalid('spec.loadBalancerClass', spec['loadBalancerClass'] ?? null, 'may not change once set')]
      : []),
    ...serviceErrors(service),
  ];
}

export const ServiceRules: KindRules = {
  ...META,
  create: (service, release = releaseOf(NEWEST_MINOR)) => [
    ...objectMeta(
      service,
      release.gates.get('RelaxedServiceNameValidation')?.isDefault ? RELAXED_META : META,
    ),
    ...serviceErrors(service),
  ],
  update: serviceUpdate,
};
