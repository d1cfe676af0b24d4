import {
  domainPrefixedPath,
  format,
  immutable,
  labelSelector,
  portNumber,
  portNumberOrName,
  subdomain,
  supportedOnly,
} from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { forbidden, invalid, notSupported, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import type { FormatCheck } from '../../field/formats.ts';
import {
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isPathSegmentName,
  isPortName,
  isWildcardDns1123Subdomain,
  nameIsDnsSubdomain,
} from '../../field/formats.ts';
import { NEWEST_MINOR, releaseOf, type Release } from '../../releases/release.ts';
import { cidr, inRange, parseCidr, parseIp } from '../ip.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, int, maybeObj, num, obj, objs, str, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';

const META = { namespaced: true, name: nameIsDnsSubdomain };

const host = (path: FieldPath, name: string): FieldError[] =>
  name.includes('*') ? format(path, name, isWildcardDns1123Subdomain) : subdomain(path, name);

function backend(path: FieldPath, of: Obj, isServiceName: FormatCheck): FieldError[] {
  const service = maybeObj(of, 'service');
  const resource = maybeObj(of, 'resource');
  if (service !== undefined && resource !== undefined)
    return [invalid(path, '', 'cannot set both resource and service backends')];
  if (resource !== undefined)
    return ['kind', 'name'].flatMap((name) =>
      str(resource, name) === '' ? [required(child(path, 'resource', name))] : [],
    );
  if (service === undefined) return [invalid(path, '', 'resource or service backend is required')];
  const name = str(service, 'name');
  const port = obj(service, 'port');
  const errors =
    name === ''
      ? [required(child(path, 'service', 'name'))]
      : format(child(path, 'service', 'name'), name, isServiceName);
  const [hasName, hasNumber] = [str(port, 'name') !== '', int(port, 'number') !== 0];
  if (hasName && hasNumber) errors.push(invalid(path, '', 'cannot set both port name & port number'));
  else if (hasName)
    errors.push(...format(child(path, 'service', 'port', 'name'), str(port, 'name'), isPortName));
  else if (hasNumber)
    errors.push(...portNumber(child(path, 'service', 'port', 'number'), int(port, 'number')));
  else errors.push(required(path, 'port name or number is required'));
  return errors;
}

const FORBIDDEN_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F'];
const FORBIDDEN_ENDINGS = ['/..', '/.'];
const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];

function httpPath(path: FieldPath, of: Obj, isServiceName: FormatCheck): FieldError[] {
  if (!has(of, 'pathType')) return [required(child(path, 'pathType'), 'pathType must be specified')];
  const type = str(of, 'pathType');
  const text = str(of, 'path');
  const at = child(path, 'path');
  const errors: FieldError[] = [];
  const notAbsolute = invalid(at, text, 'must be an absolute path');
  if (type === 'Exact' || type === 'Prefix') {
    if (!text.startsWith('/')) errors.push(notAbsolute);
    for (const part of FORBIDDEN_SEQUENCES)
      if (text.includes(part)) errors.push(invalid(at, text, `must not contain '${part}'`));
    for (const part of FORBIDDEN_ENDINGS)
      if (text.endsWith(part)) errors.push(invalid(at, text, `cannot end with '${part}'`));
  } else if (type === 'ImplementationSpecific') {
    if (text !== '' && !text.startsWith('/')) errors.push(notAbsolute);
  } else {
    errors.push(notSupported(child(path, 'pathType'), type, PATH_TYPES));
  }
  return [...errors, ...backend(child(path, 'backend'), obj(of, 'backend'), isServiceName)];
}

/** A service may be named like a pod since RelaxedServiceNameValidation; what is stored may name it so from then on. */
const serviceNameOf = (release: Release): FormatCheck =>
  release.gates.get('RelaxedServiceNameValidation')?.isDefault ? isDns1123Label : isDns1035Label;

function ingressSpec(spec: Obj, isServiceName: FormatCheck = isDns1123Label): FieldError[] {
  const rules = objs(spec, 'rules');
  const errors: FieldError[] = [];
  if (rules.length === 0 && !has(spec, 'defaultBackend'))
    errors.push(
      invalid('spec', spec['rules'] ?? null, 'either `defaultBackend` or `rules` must be specified'),
    );
  if (has(spec, 'defaultBackend'))
    errors.push(...backend('spec.defaultBackend', obj(spec, 'defaultBackend'), isServiceName));
  rules.forEach((rule, i) => {
    const at = index('spec.rules', i);
    const name = str(rule, 'host');
    if (name !== '' && parseIp(name) !== undefined)
      errors.push(invalid(child(at, 'host'), name, 'must be a DNS name, not an IP address'));
    else if (name !== '') errors.push(...host(child(at, 'host'), name));
    const http = maybeObj(rule, 'http');
    if (http === undefined) return;
    if (objs(http, 'paths').length === 0) errors.push(required(child(at, 'http', 'paths')));
    objs(http, 'paths').forEach((of, p) => {
      errors.push(...httpPath(index(child(at, 'http', 'paths'), p), of, isServiceName));
    });
  });
  objs(spec, 'tls').forEach((tls, i) => {
    const at = index('spec.tls', i);
    errors.push(...strs(tls, 'hosts').flatMap((name, h) => host(index(child(at, 'hosts'), h), name)));
    if (str(tls, 'secretName') !== '')
      errors.push(...subdomain(child(at, 'secretName'), str(tls, 'secretName')));
  });
  if (has(spec, 'ingressClassName'))
    errors.push(...subdomain('spec.ingressClassName', str(spec, 'ingressClassName')));
  return errors;
}

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

export const IngressRules: KindRules = {
  ...META,
  create(ingress, release = releaseOf(NEWEST_MINOR)) {
    const spec = obj(ingress, 'spec');
    const annotation = str(obj(obj(ingress, 'metadata'), 'annotations'), CLASS_ANNOTATION);
    const differs =
      annotation !== '' && has(spec, 'ingressClassName') && annotation !== str(spec, 'ingressClassName');
    return [
      ...objectMeta(ingress, META),
      ...ingressSpec(spec, serviceNameOf(release)),
      ...(differs
        ? [
            invalid(
              `metadata.annotations.${CLASS_ANNOTATION}`,
              annotation,
              'must match `ingressClassName` when both are specified',
            ),
          ]
        : []),
    ];
  },
  update: (ingress, before) => [...objectMetaUpdate(ingress, before), ...ingressSpec(obj(ingress, 'spec'))],
};

const CLUSTER = { namespaced: false, name: nameIsDnsSubdomain };
const CONTROLLER_BYTES_MAX = 250;

function ingressClass(object: Obj): FieldError[] {
  const controller = str(obj(object, 'spec'), 'controller');
  const at = 'spec.controller';
  const parameters = maybeObj(obj(object, 'spec'), 'parameters');
  const rest = parameters ? classParameters('spec.parameters', parameters) : [];
  if (controller === '') return [required(at), ...rest];
  if (controller.length > CONTROLLER_BYTES_MAX)
    return [invalid(at, controller, `may not be more than ${CONTROLLER_BYTES_MAX} bytes`), ...rest];
  return [...domainPrefixedPath(at, controller), ...rest];
}

const SCOPES = ['Cluster', 'Namespace'];

function classParameters(path: FieldPath, of: Obj): FieldError[] {
  const [scope, at] = [str(of, 'scope'), child(path, 'namespace')];
  const errors = [
    ...(has(of, 'apiGroup') ? format(child(path, 'apiGroup'), str(of, 'apiGroup'), isDns1123Subdomain) : []),
    ...['kind', 'name'].flatMap((name) =>
      str(of, name) === ''
        ? [required(child(path, name))]
        : isPathSegmentName(str(of, name), false).map((message) =>
            invalid(child(path, name), str(of, name), message),
          ),
    ),
  ];
  if (!SCOPES.includes(scope)) return [...errors, notSupported(child(path, 'scope'), scope, SCOPES)];
  if (scope === 'Cluster')
    return has(of, 'namespace')
      ? [...errors, forbidden(at, "`parameters.scope` is set to 'Cluster'")]
      : errors;
  return has(of, 'namespace')
    ? [...errors, ...format(at, str(of, 'namespace'), isDns1123Label)]
    : [...errors, required(at, "`parameters.scope` is set to 'Namespace'")];
}

export const IngressClassRules: KindRules = {
  ...CLUSTER,
  create: (object) => [...objectMeta(object, CLUSTER), ...ingressClass(object)],
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...immutable('spec.controller', obj(object, 'spec')['controller'], obj(before, 'spec')['controller']),
    ...ingressClass(object),
  ],
};

function policyPort(path: FieldPath, port: Obj): FieldError[] {
  const errors: FieldError[] = has(port, 'protocol')
    ? supportedOnly(child(path, 'protocol'), str(port, 'protocol'), ['TCP', 'UDP', 'SCTP'])
    : [];
  const endPort = num(port, 'endPort');
  const at = child(path, 'endPort');
  if (!has(port, 'port'))
    return endPort === undefined
      ? errors
      : [...errors, invalid(at, endPort, 'may not be specified when `port` is not specified')];
  const own = portNumberOrName(child(path, 'port'), port['port']);
  if (endPort === undefined) return [...errors, ...own];
  if (typeof port['port'] === 'string')
    return [...errors, invalid(at, endPort, 'may not be specified when `port` is non-numeric'), ...own];
  errors.push(...own);
  // Upstream shows the other port here.
  if (endPort < int(port, 'port'))
    errors.push(invalid(at, int(port, 'port'), 'must be greater than or equal to `port`'));
  return [...errors, ...portNumber(at, endPort)];
}

function ipBlock(path: FieldPath, block: Obj): FieldError[] {
  const text = str(block, 'cidr');
  if (text === '') return [required(child(path, 'cidr'))];
  const range = parseCidr(text);
  if (range === undefined) return cidr(child(path, 'cidr'), text);
  return strs(block, 'except').flatMap((exceptText, i) => {
    const at = index(child(path, 'except'), i);
    const except = parseCidr(exceptText);
    if (except === undefined) return cidr(at, exceptText);
    const isSubset = inRange(except, range) && except.prefixLength > range.prefixLength;
    return isSubset ? [] : [invalid(at, exceptText, 'must be a strict subset of `cidr`')];
  });
}

function policyPeer(path: FieldPath, peer: Obj): FieldError[] {
  const block = maybeObj(peer, 'ipBlock');
  const selectors = ['podSelector', 'namespaceSelector'].filter((name) => has(peer, name));
  const errors = selectors.flatMap((name) => labelSelector(child(path, name), maybeObj(peer, name)));
  if (block !== undefined) errors.push(...ipBlock(child(path, 'ipBlock'), block));
  if (block === undefined && selectors.length === 0) errors.push(required(path, 'must specify a peer'));
  else if (block !== undefined && selectors.length > 0)
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
  return errors;
}

function policySpec(spec: Obj): FieldError[] {
  const types = strs(spec, 'policyTypes');
  const direction = (name: string, peers: string): FieldError[] =>
    objs(spec, name).flatMap((rule, i) => {
      const at = index(child('spec', name), i);
      return [
        ...objs(rule, 'ports').flatMap((port, p) => policyPort(index(child(at, 'ports'), p), port)),
        ...objs(rule, peers).flatMap((peer, p) => policyPeer(index(child(at, peers), p), peer)),
      ];
    });
  return [
    ...labelSelector('spec.podSelector', maybeObj(spec, 'podSelector')),
    ...direction('ingress', 'from'),
    ...direction('egress', 'to'),
    ...(types.length > 2
      ? [invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')]
      : []),
    ...types.flatMap((type, i) => supportedOnly(index('spec.policyTypes', i), type, ['Ingress', 'Egress'])),
  ];
}

export const NetworkPolicyRules: KindRules = {
  ...META,
  create: (policy) => [...objectMeta(policy, META), ...policySpec(obj(policy, 'spec'))],
  update: (policy, before) => [...objectMetaUpdate(policy, before), ...policySpec(obj(policy, 'spec'))],
};
