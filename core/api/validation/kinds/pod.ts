import {
  format,
  label,
  labels,
  nonnegative,
  oneOf,
  qualifiedName,
  subdomain,
  supportedOnly,
} from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, notSupported, required, tooLong } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import { isDns1123Subdomain, isPosixId, nameIsDnsSubdomain, rangeError } from '../../field/formats.ts';
import { byteLength, goQuote } from '../../field/go-text.ts';
import { ip } from '../ip.ts';
import { annotations, objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import {
  differences,
  has,
  int,
  isTrue,
  maybeObj,
  num,
  obj,
  objs,
  sameValue,
  str,
  strMap,
  strs,
} from '../read.ts';
import type { KindRules } from '../rules.ts';
import { containers, initContainers, posixId, seccompProfile } from './containers.ts';
import { appArmorProfile } from './container-policies.ts';
import { ephemeralContainers, ephemeralContainersUpdate } from './ephemeral-containers.ts';
import { resourceRequirements } from './resources.ts';
import { affinity, tolerations, topologySpread } from './scheduling.ts';
import { sysctls } from './sysctls.ts';
import { volumes } from './volumes.ts';

const INT32_MAX = 2 ** 31 - 1;
const HOSTNAME_BYTES_MAX = 64;
const NAMESERVERS_MAX = 3;
const SEARCH_PATHS_MAX = 32;
const SEARCH_CHARACTERS_MAX = 2_048;

function dnsConfig(path: FieldPath, spec: Obj): FieldError[] {
  const config = maybeObj(spec, 'dnsConfig');
  const isNone = str(spec, 'dnsPolicy') === 'None';
  if (config === undefined)
    return isNone ? [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')] : [];
  const nameservers = strs(config, 'nameservers');
  const searches = strs(config, 'searches');
  const at = (name: string): FieldPath => child(path, name);
  if (isNone && nameservers.length === 0)
    return [required(at('nameservers'), 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
  const errors: FieldError[] = [];
  if (nameservers.length > NAMESERVERS_MAX)
    errors.push(
      invalid(at('nameservers'), nameservers, `must not have more than ${NAMESERVERS_MAX} nameservers`),
    );
  errors.push(...nameservers.flatMap((server, i) => ip(index(at('nameservers'), i), server)));
  if (searches.length > SEARCH_PATHS_MAX)
    errors.push(
      invalid(at('searches'), searches, `must not have more than ${SEARCH_PATHS_MAX} search paths`),
    );
  if (searches.join(' ').length > SEARCH_CHARACTERS_MAX)
    errors.push(
      invalid(
        at('searches'),
        searches,
        `must not have more than ${SEARCH_CHARACTERS_MAX} characters (including spaces) in the search list`,
      ),
    );
  errors.push(
    ...searches.flatMap((search, i) =>
      search === '.'
        ? []
        : subdomain(index(at('searches'), i), search.replace(/\.$/, '').replaceAll('_', 'a')),
    ),
  );
  return [
    ...errors,
    ...objs(config, 'options').flatMap((option, i) =>
      str(option, 'name') === '' ? [required(index(at('options'), i), 'must not be empty')] : [],
    ),
  ];
}

function podSecurityContext(path: FieldPath, spec: Obj): FieldError[] {
  const context = maybeObj(spec, 'securityContext');
  if (context === undefined) return [];
  const groups = Array.isArray(context['supplementalGroups']) ? context['supplementalGroups'] : [];
  return [
    ...posixId(path, context, 'fsGroup'),
    ...posixId(path, context, 'runAsUser'),
    ...posixId(path, context, 'runAsGroup'),
    ...groups.flatMap((group: unknown, i) =>
      typeof group === 'number'
        ? isPosixId(group).map((message) =>
            invalid(index(child(path, 'supplementalGroups'), i), group, message),
          )
        : [],
    ),
    ...(has(context, 'fsGroupChangePolicy')
      ? oneOf(child(path, 'fsGroupChangePolicy'), str(context, 'fsGroupChangePolicy'), [
          'Always',
          'OnRootMismatch',
        ])
      : []),
    ...seccompProfile(path, context),
    ...appArmorProfile(path, context),
    ...sysctls(child(path, 'sysctls'), context, spec),
  ];
}

function hostNetworkPorts(path: FieldPath, spec: Obj, isPod: boolean): FieldError[] {
  if (!isTrue(spec, 'hostNetwork')) return [];
  return objs(spec, 'containers').flatMap((container, c) =>
    objs(container, 'ports').flatMap((port, p) => {
      const hostPort = int(port, 'hostPort');
      if ((!isPod && hostPort === 0) || hostPort === int(port, 'containerPort')) return [];
      const at = index(child(index(child(path, 'containers'), c), 'ports'), p);
      return [
        invalid(child(at, 'hostPort'), hostPort, 'must match `containerPort` when `hostNetwork` is true'),
      ];
    }),
  );
}

const named = (path: FieldPath, spec: Obj, name: string): FieldError[] =>
  str(spec, name) === '' ? [] : format(child(path, name), str(spec, name), isDns1123Subdomain);

export function podSpec(path: FieldPath, spec: Obj, isPod: boolean): FieldError[] {
  const graceSeconds = num(spec, 'terminationGracePeriodSeconds');
  const checked = volumes(child(path, 'volumes'), objs(spec, 'volumes'));
  const context = {
    volumes: checked.byName,
    claims: new Set(objs(spec, 'resourceClaims').map((claim) => str(claim, 'name'))),
    graceSeconds,
    restartPolicy: str(spec, 'restartPolicy'),
    usesHostUsers: spec['hostUsers'] !== false,
  };
  const regular = objs(spec, 'containers');
  const activeSeconds = num(spec, 'activeDeadlineSeconds');
  const account = str(spec, 'serviceAccountName');
  const errors = [
    ...(graceSeconds === undefined ? [required(child(path, 'terminationGracePeriodSeconds'))] : []),
    ...checked.errors,
    ...resourceClaims(child(path, 'resourceClaims'), objs(spec, 'resourceClaims')),
    ...containers(child(path, 'containers'), regular, context),
    ...initContainers(child(path, 'initContainers'), objs(spec, 'initContainers'), regular, context),
    ...ephemeralContainers(child(path, 'ephemeralContainers'), spec, context),
    ...hostNetworkPorts(path, spec, isPod),
    ...oneOf(child(path, 'restartPolicy'), str(spec, 'restartPolicy'), ['Always', 'OnFailure', 'Never']),
    ...oneOf(child(path, 'dnsPolicy'), str(spec, 'dnsPolicy'), [
      'ClusterFirstWithHostNet',
      'ClusterFirst',
      'Default',
      'None',
    ]),
    ...labels(child(path, 'nodeSelector'), strMap(spec, 'nodeSelector')),
    ...podSecurityContext(child(path, 'securityContext'), spec),
    ...(isTrue(spec, 'hostPID') && isTrue(spec, 'shareProcessNamespace')
      ? [
          invalid(
            child(path, 'shareProcessNamespace'),
            true,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : []),
    ...affinity(child(path, 'affinity'), obj(spec, 'affinity')),
    ...dnsConfig(child(path, 'dnsConfig'), spec),
    ...objs(spec, 'readinessGates').flatMap((gate, i) =>
      qualifiedName(
        child(index(child(path, 'readinessGates'), i), 'conditionType'),
        str(gate, 'conditionType'),
      ),
    ),
    ...schedulingGates(child(path, 'schedulingGates'), objs(spec, 'schedulingGates')),
    ...topologySpread(child(path, 'topologySpreadConstraints'), objs(spec, 'topologySpreadConstraints')),
    ...hostnameOverride(child(path, 'hostnameOverride'), spec),
    ...named(path, spec, 'serviceAccountName'),
    ...(has(spec, 'serviceAccount') && str(spec, 'serviceAccount') !== account
      ? [
          invalid(
            child(path, 'deprecatedServiceAccount'),
            str(spec, 'serviceAccount'),
            `must be the same as serviceAccountName: ${goQuote(account)}`,
          ),
        ]
      : []),
    ...named(path, spec, 'nodeName'),
    ...(activeSeconds !== undefined && (activeSeconds < 1 || activeSeconds > INT32_MAX)
      ? [invalid(child(path, 'activeDeadlineSeconds'), activeSeconds, rangeError(1, INT32_MAX))]
      : []),
    ...['hostname', 'subdomain'].flatMap((name) =>
      str(spec, name) === '' ? [] : label(child(path, name), str(spec, name)),
    ),
    ...tolerations(child(path, 'tolerations'), objs(spec, 'tolerations')),
    ...hostAliases(child(path, 'hostAliases'), objs(spec, 'hostAliases')),
    ...named(path, spec, 'priorityClassName'),
    ...(has(spec, 'runtimeClassName')
      ? format(child(path, 'runtimeClassName'), str(spec, 'runtimeClassName'), isDns1123Subdomain)
      : []),
    ...(has(spec, 'preemptionPolicy')
      ? oneOf(child(path, 'preemptionPolicy'), str(spec, 'preemptionPolicy'), [
          'PreemptLowerPriority',
          'Never',
        ])
      : []),
    ...(has(spec, 'overhead')
      ? resourceRequirements(child(path, 'overhead'), { limits: spec['overhead'] }, new Set())
      : []),
    ...operatingSystem(child(path, 'os'), spec),
  ];
  return errors;
}

const CLAIM_SOURCES = ['resourceClaimName', 'resourceClaimTemplateName'] as const;

/** As Go prints the claim, with every field. */
const goClaim = (claim: Obj): unknown => ({
  Name: str(claim, 'name'),
  ResourceClaimName: claim['resourceClaimName'] ?? null,
  ResourceClaimTemplateName: claim['resourceClaimTemplateName'] ?? null,
});

function resourceClaims(path: FieldPath, claims: readonly Obj[]): FieldError[] {
  const seen = new Set<string>();
  return claims.flatMap((claim, i) => {
    const at = index(path, i);
    const name = str(claim, 'name');
    const given = CLAIM_SOURCES.filter((source) => has(claim, source));
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(child(at, 'name')));
    else if (seen.has(name)) errors.push(duplicate(child(at, 'name'), name));
    else errors.push(...label(child(at, 'name'), name));
    seen.add(name);
    if (given.length > 1)
      errors.push(
        invalid(
          at,
          goClaim(claim),
          'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
        ),
      );
    if (given.length === 0)
      errors.push(
        invalid(at, goClaim(claim), 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'),
      );
    return [
      ...errors,
      ...given.flatMap((source) => format(child(at, source), str(claim, source), isDns1123Subdomain)),
    ];
  });
}

function operatingSystem(path: FieldPath, spec: Obj): FieldError[] {
  const os = maybeObj(spec, 'os');
  if (os === undefined) return [];
  const name = str(os, 'name');
  return name === '' ? [required(child(path, 'name'))] : supportedOnly(path, name, ['linux', 'windows']);
}

function hostnameOverride(path: FieldPath, spec: Obj): FieldError[] {
  if (!has(spec, 'hostnameOverride')) return [];
  const name = str(spec, 'hostnameOverride');
  return [
    ...(isTrue(spec, 'setHostnameAsFQDN')
      ? [forbidden(path, 'may not be specified when setHostnameAsFQDN is true')]
      : []),
    ...(isTrue(spec, 'hostNetwork')
      ? [forbidden(path, 'may not be specified when hostNetwork is true')]
      : []),
    ...(byteLength(name) > HOSTNAME_BYTES_MAX ? [tooLong(path, HOSTNAME_BYTES_MAX)] : []),
    ...subdomain(path, name),
  ];
}

function schedulingGates(path: FieldPath, gates: readonly Obj[]): FieldError[] {
  const seen = new Set<string>();
  return gates.flatMap((gate, i) => {
    const name = str(gate, 'name');
    const errors = qualifiedName(index(path, i), name);
    if (seen.has(name)) errors.push(duplicate(index(path, i), name));
    seen.add(name);
    return errors;
  });
}

const hostAliases = (path: FieldPath, aliases: readonly Obj[]): FieldError[] =>
  aliases.flatMap((alias, i) => [
    ...ip(child(index(path, i), 'ip'), str(alias, 'ip')),
    ...strs(alias, 'hostnames').flatMap((name, j) =>
      subdomain(index(child(index(path, i), 'hostnames'), j), name),
    ),
  ]);

/** The template of a workload; a pod that has one is checked again when it is made. */
export function podTemplate(path: FieldPath, template: Obj): FieldError[] {
  const metadata = obj(template, 'metadata');
  const spec = obj(template, 'spec');
  return [
    ...labels(child(path, 'labels'), strMap(metadata, 'labels')),
    ...annotations(child(path, 'annotations'), strMap(metadata, 'annotations')),
    ...podSpec(child(path, 'spec'), spec, false),
    ...(objs(spec, 'ephemeralContainers').length > 0
      ? [
          forbidden(
            child(path, 'spec', 'ephemeralContainers'),
            'ephemeral containers not allowed in pod template',
          ),
        ]
      : []),
  ];
}

const META = { namespaced: true, name: nameIsDnsSubdomain };

function metadataAndSpec(pod: Obj): FieldError[] {
  const spec = obj(pod, 'spec');
  const trimmed = ['containers', 'initContainers'].flatMap((list) =>
    objs(spec, list).flatMap((container, i) => imageErrors(index(`spec.${list}`, i), container)),
  );
  return [
    ...objectMeta(pod, META),
    ...podSpec('spec', spec, true),
    ...nonnegative('spec.terminationGracePeriodSeconds', num(spec, 'terminationGracePeriodSeconds')),
    ...trimmed,
  ];
}

const imageErrors = (path: FieldPath, container: Obj): FieldError[] => {
  const image = str(container, 'image');
  return image === image.trim()
    ? []
    : [invalid(child(path, 'image'), image, 'must not have leading or trailing whitespace')];
};

const UPDATABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

const withImagesOf = (list: readonly Obj[], before: readonly Obj[]): Obj[] =>
  list.map((container, i) => ({ ...container, image: before[i]?.['image'] }));

function addedTolerations(list: readonly Obj[], before: readonly Obj[]): FieldError[] {
  const isKept = (old: Obj): boolean =>
    list.some((toleration) =>
      sameValue({ ...old, tolerationSeconds: toleration['tolerationSeconds'] }, toleration),
    );
  return before.every(isKept)
    ? []
    : [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

function activeDeadline(spec: Obj, old: Obj): FieldError[] {
  const path = 'spec.activeDeadlineSeconds';
  const seconds = num(spec, 'activeDeadlineSeconds');
  const oldSeconds = num(old, 'activeDeadlineSeconds');
  if (seconds === undefined)
    return oldSeconds === undefined
      ? []
      : [invalid(path, null, 'must not update from a positive integer to nil value')];
  if (seconds < 0 || seconds > INT32_MAX) return [invalid(path, seconds, rangeError(0, INT32_MAX))];
  return oldSeconds !== undefined && oldSeconds < seconds
    ? [invalid(path, seconds, 'must be less than or equal to previous value')]
    : [];
}

function podUpdate(pod: Obj, before: Obj): FieldError[] {
  const spec = obj(pod, 'spec');
  const old = obj(before, 'spec');
  const errors = [...objectMetaUpdate(pod, before), ...metadataAndSpec(pod)];
  for (const list of ['containers', 'initContainers'])
    if (objs(spec, list).length !== objs(old, list).length)
      return [...errors, forbidden(`spec.${list}`, 'pod updates may not add or remove containers')];
  const known = new Set(objs(old, 'schedulingGates').map((gate) => str(gate, 'name')));
  objs(spec, 'schedulingGates').forEach((gate, i) => {
    const name = str(gate, 'name');
    if (!known.has(name))
      errors.push(
        forbidden(
          child(index('spec.schedulingGates', i), 'name'),
          `only deletion is allowed, but found new scheduling gate '${name}'`,
        ),
      );
  });
  errors.push(
    ...activeDeadline(spec, old),
    ...addedTolerations(objs(spec, 'tolerations'), objs(old, 'tolerations')),
  );
  if (sameValue(spec, old)) return errors;
  const graceBecomesOne =
    int(old, 'terminationGracePeriodSeconds') < 0 && int(spec, 'terminationGracePeriodSeconds') === 1;
  const isGated = objs(old, 'schedulingGates').length > 0;
  const munged: Obj = {
    ...spec,
    containers: withImagesOf(objs(spec, 'containers'), objs(old, 'containers')),
    ...(has(spec, 'initContainers') && {
      initContainers: withImagesOf(objs(spec, 'initContainers'), objs(old, 'initContainers')),
    }),
    activeDeadlineSeconds: old['activeDeadlineSeconds'],
    schedulingGates: old['schedulingGates'],
    tolerations: old['tolerations'],
    ...(graceBecomesOne && { terminationGracePeriodSeconds: old['terminationGracePeriodSeconds'] }),
    ...(isGated && gatedChanges(spec, old, errors)),
  };
  if (!sameValue(munged, old))
    errors.push(
      forbidden(
        'spec',
        `pod updates may not change fields other than ${UPDATABLE}\n${differences(old, munged, 'spec').join('\n')}`,
      ),
    );
  return errors;
}

/** A pod that waits at a gate may still be steered: node selectors may be added, and node affinity narrowed. */
function gatedChanges(spec: Obj, old: Obj, errors: FieldError[]): Obj {
  const selector = strMap(spec, 'nodeSelector');
  for (const [name, value] of Object.entries(strMap(old, 'nodeSelector')))
    if (selector[name] !== value) {
      errors.push(
        invalid(
          'spec.nodeSelector',
          selector,
          'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
        ),
      );
      break;
    }
  const nodeAffinity = maybeObj(obj(old, 'affinity'), 'nodeAffinity');
  const affinityNow: Obj = { ...obj(spec, 'affinity'), nodeAffinity };
  return { nodeSelector: old['nodeSelector'], affinity: affinityNow };
}

/** What the scheduler posts to bind a pod to a node. */
export function bindingErrors(binding: Obj): FieldError[] {
  const target = obj(binding, 'target');
  const [kind, name] = [str(target, 'kind'), str(target, 'name')];
  return [
    ...(kind !== '' && kind !== 'Node' ? [notSupported('target.kind', kind, ['Node', '<empty>'])] : []),
    ...(name === '' ? [required('target.name')] : []),
  ];
}

export const PodRules: KindRules = {
  ...META,
  create: metadataAndSpec,
  update: podUpdate,
  subresources: {
    ephemeralcontainers: (pod, before) => [
      ...objectMetaUpdate(pod, before),
      ...metadataAndSpec(pod),
      ...ephemeralContainersUpdate(pod, before),
    ],
  },
};

export const PodTemplateRules: KindRules = {
  ...META,
  create: (object) => [...objectMeta(object, META), ...podTemplate('template', obj(object, 'template'))],
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...podTemplate('template', obj(object, 'template')),
  ],
};
