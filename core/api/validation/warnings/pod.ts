import { goQuote } from '../../field/go-text.ts';
import { child, index, key, type FieldPath } from '../../field/field-path.ts';
import { has, int, maybeObj, num, obj, objs, quantities, str, strMap, type Obj } from '../read.ts';
import { claimSpecWarnings, fractionWarnings } from './claims.ts';
import { deprecatedLabel, nodeSelectorTermWarnings } from './node-labels.ts';
import { portWarnings } from './ports.ts';
import { volumePathWarnings } from './volume-paths.ts';

const DEPRECATED_ANNOTATIONS: readonly (readonly [annotation: string, message: string])[] = [
  [
    'scheduler.alpha.kubernetes.io/critical-pod',
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  [
    'security.alpha.kubernetes.io/unsafe-sysctls',
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
];
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
const SECCOMP_MESSAGE = 'non-functional in v1.27+; use the "seccompProfile" field instead';
const APPARMOR_CONTAINER = 'container.apparmor.security.beta.kubernetes.io/';
const APPARMOR_MESSAGE = 'deprecated since v1.30; use the "appArmorProfile" field instead';

const DEPRECATED_VOLUMES: readonly (readonly [source: string, message: string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];
/** As upstream's paths spell it, which is not how the field is spelled. */
const SPELLED: Readonly<Record<string, string>> = { storageos: 'storageOS' };
const NO_SELECTOR = 'a null labelSelector results in matching no pod';
const BYTES_RESOURCES = ['memory', 'ephemeral-storage'];

export interface Containers {
  readonly path: FieldPath;
  readonly container: Obj;
}

const containersOf = (path: FieldPath, spec: Obj): Containers[] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) =>
    objs(spec, field).map((container, at) => ({ path: index(child(path, field), at), container })),
  );

const nodeWarnings = (path: FieldPath, spec: Obj): string[] => {
  const affinity = obj(obj(spec, 'affinity'), 'nodeAffinity');
  const at = child(path, 'affinity', 'nodeAffinity');
  const required = child(at, 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms');
  const preferred = child(at, 'preferredDuringSchedulingIgnoredDuringExecution');
  return [
    ...Object.keys(strMap(spec, 'nodeSelector')).flatMap((label) => {
      const message = deprecatedLabel(label);
      return message === undefined ? [] : [`${key(child(path, 'nodeSelector'), label)}: ${message}`];
    }),
    ...objs(obj(affinity, 'requiredDuringSchedulingIgnoredDuringExecution'), 'nodeSelectorTerms').flatMap(
      (term, number) => nodeSelectorTermWarnings(index(required, number), term, { checksValues: false }),
    ),
    ...objs(affinity, 'preferredDuringSchedulingIgnoredDuringExecution').flatMap((term, number) =>
      nodeSelectorTermWarnings(child(index(preferred, number), 'preference'), obj(term, 'preference'), {
        checksValues: true,
      }),
    ),
    ...objs(spec, 'topologySpreadConstraints').flatMap((constraint, number) => {
      const inside = index(child(path, 'topologySpreadConstraints'), number);
      const topology = str(constraint, 'topologyKey');
      const message = deprecatedLabel(topology);
      return [
        ...(message === undefined ? [] : [`${child(inside, 'topologyKey')}: ${topology} is ${message}`]),
        ...(has(constraint, 'labelSelector') ? [] : [`${child(inside, 'labelSelector')}: ${NO_SELECTOR}`]),
      ];
    }),
  ];
};

const volumeWarnings = (path: FieldPath, spec: Obj): string[] => {
  const volumes = objs(spec, 'volumes');
  return [
    ...volumes.flatMap((volume, number) => {
      const at = index(child(path, 'volumes'), number);
      const template = maybeObj(obj(volume, 'ephemeral'), 'volumeClaimTemplate');
      return [
        ...DEPRECATED_VOLUMES.filter(([source]) => has(volume, source)).map(
          ([source, message]) => `${child(at, SPELLED[source] ?? source)}: ${message}`,
        ),
        ...(template
          ? claimSpecWarnings(child(at, 'ephemeral', 'volumeClaimTemplate', 'spec'), obj(template, 'spec'))
          : []),
      ];
    }),
    ...volumePathWarnings(volumes),
  ];
};

/** What is named again, by its index and name. */
const repeated = (names: readonly string[]): [at: number, name: string][] =>
  names.flatMap((name, at) => (names.indexOf(name) < at ? [[at, name] as [number, string]] : []));

const listWarnings = (path: FieldPath, spec: Obj): string[] => {
  const secrets = objs(spec, 'imagePullSecrets').map((secret) => str(secret, 'name'));
  const nameAt = (at: number): FieldPath => child(index(child(path, 'imagePullSecrets'), at), 'name');
  return [
    ...repeated(objs(spec, 'hostAliases').map((alias) => str(alias, 'ip'))).map(
      ([at, ip]) => `${child(index(child(path, 'hostAliases'), at), 'ip')}: duplicate ip ${goQuote(ip)}`,
    ),
    ...repeated(secrets).map(([at, name]) => `${nameAt(at)}: duplicate name ${goQuote(name)}`),
    ...secrets.flatMap((name, at) => (name === '' ? [`${nameAt(at)}: invalid empty name ""`] : [])),
    ...fractionWarnings(child(path, 'overhead'), quantities(spec, 'overhead'), BYTES_RESOURCES),
  ];
};

const environmentWarnings = ({ path, container }: Containers): string[] => {
  const variables = objs(container, 'env');
  const names = variables.map((variable) => str(variable, 'name'));
  return repeated(names).flatMap(([at, name]) => {
    const variable = variables[at]!;
    const reference = `$(${name})`;
    const value = str(variable, 'value');
    // X="$(X)123" adds to what was there.
    const adds = !has(variable, 'valueFrom') && value !== reference && value.includes(reference);
    return adds
      ? []
      : [
          `${index(child(path, 'env'), at)}: hides previous definition of ${goQuote(name)}, which may be dropped when using apply`,
        ];
  });
};

const containerWarnings = (
  one: Containers,
  annotations: { readonly path: FieldPath; readonly values: Readonly<Record<string, string>> },
  isTemplate: boolean,
): string[] => {
  const { path, container } = one;
  const security = obj(container, 'securityContext');
  const told = (prefix: string, field: string, message: string): string[] => {
    const annotation = `${prefix}${str(container, 'name')}`;
    const isUsed = !has(security, field) && annotations.values[annotation] !== undefined;
    return isUsed ? [`${key(annotations.path, annotation)}: ${message}`] : [];
  };
  return [
    ...told(SECCOMP_CONTAINER, 'seccompProfile', SECCOMP_MESSAGE),
    ...(isTemplate ? told(APPARMOR_CONTAINER, 'appArmorProfile', APPARMOR_MESSAGE) : []),
    ...BYTES_RESOURCES.flatMap((resource) =>
      ['limits', 'requests'].flatMap((field) =>
        fractionWarnings(child(path, 'resources', field), quantities(obj(container, 'resources'), field), [
          resource,
        ]),
      ),
    ),
    ...environmentWarnings(one),
  ];
};

const podAffinityWarnings = (path: FieldPath, spec: Obj): string[] =>
  ['podAffinity', 'podAntiAffinity'].flatMap((field) => {
    const affinity = obj(obj(spec, 'affinity'), field);
    const at = child(path, 'affinity', field);
    const [required, preferred] = [
      'requiredDuringSchedulingIgnoredDuringExecution',
      'preferredDuringSchedulingIgnoredDuringExecution',
    ];
    return [
      ...objs(affinity, required!).flatMap((term, number) =>
        has(term, 'labelSelector')
          ? []
          : [`${child(index(child(at, required!), number), 'labelSelector')}: ${NO_SELECTOR}`],
      ),
      ...objs(affinity, preferred!).flatMap((term, number) =>
        has(obj(term, 'podAffinityTerm'), 'labelSelector')
          ? []
          : [
              `${child(index(child(at, preferred!), number), 'podAffinityTerm', 'labelSelector')}: ${NO_SELECTOR}`,
            ],
      ),
    ];
  });

/** Of a pod, or of the template at `path`, in the order in which upstream tells them. */
export const podWarnings = (path: FieldPath, pod: Obj, isTemplate: boolean): string[] => {
  const spec = obj(pod, 'spec');
  const at = child(path, 'spec');
  const annotations = {
    path: child(path, 'metadata', 'annotations'),
    values: strMap(obj(pod, 'metadata'), 'annotations'),
  };
  const containers = containersOf(at, spec);
  const graceSeconds = num(spec, 'terminationGracePeriodSeconds');
  return [
    ...nodeWarnings(at, spec),
    ...DEPRECATED_ANNOTATIONS.filter(([annotation]) => annotations.values[annotation] !== undefined).map(
      ([annotation, message]) => `${key(annotations.path, annotation)}: ${message}`,
    ),
    ...volumeWarnings(at, spec),
    ...listWarnings(at, spec),
    ...(!has(obj(spec, 'securityContext'), 'seccompProfile') && annotations.values[SECCOMP_POD] !== undefined
      ? [`${key(annotations.path, SECCOMP_POD)}: ${SECCOMP_MESSAGE}`]
      : []),
    ...containers.flatMap((one) => containerWarnings(one, annotations, isTemplate)),
    ...portWarnings(containers),
    ...(graceSeconds !== undefined && int(spec, 'terminationGracePeriodSeconds') < 0
      ? [
          `${child(at, 'terminationGracePeriodSeconds')}: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...podAffinityWarnings(at, spec),
  ];
};
