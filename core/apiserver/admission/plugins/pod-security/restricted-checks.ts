import type { V1Container } from '../../../../api/schema/index.ts';
import { isConfined, procMount, seccompBaseline } from './baseline-checks.ts';
import {
  containersOf,
  containersText,
  hasUserNamespace,
  isWindows,
  namesWhere,
  plural,
  quoted,
  settersText,
  sortedSet,
  type Check,
  type Subject,
  type Violation,
} from './check.ts';

type Find = Check['versions'][number][1];

const exceptWindows =
  (find: Find): Find =>
  (pod) =>
    isWindows(pod) ? undefined : find(pod);
const exceptUserNamespaces =
  (find: Find): Find =>
  (pod) =>
    hasUserNamespace(pod) ? undefined : find(pod);

const escalation: Find = (pod) => {
  const bad = namesWhere(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  return bad.length === 0
    ? undefined
    : {
        reason: 'allowPrivilegeEscalation != false',
        detail: `${containersText(bad)} must set securityContext.allowPrivilegeEscalation=false`,
      };
};

const capabilities: Find = (pod) => {
  const added = ({ securityContext }: V1Container): string[] =>
    (securityContext?.capabilities?.add ?? []).filter((one) => one !== 'NET_BIND_SERVICE');
  const keeping = namesWhere(
    pod,
    ({ securityContext }) => !(securityContext?.capabilities?.drop ?? []).includes('ALL'),
  );
  const adding = namesWhere(pod, (container) => added(container).length > 0);
  const details = [
    ...(keeping.length > 0
      ? [`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`]
      : []),
    ...(adding.length > 0
      ? [
          `${containersText(adding)} must not include ${quoted(sortedSet(containersOf(pod).flatMap(added)))} in securityContext.capabilities.add`,
        ]
      : []),
  ];
  return details.length === 0
    ? undefined
    : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

const VOLUME_TYPES: ReadonlySet<string> = new Set([
  ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim'],
  ...['projected', 'secret'],
]);

const volumes: Find = ({ spec }) => {
  const typeOf = (volume: object): string =>
    Object.keys(volume).find((field) => field !== 'name') ?? 'unknown';
  const bad = (spec.volumes ?? []).filter((volume) => !VOLUME_TYPES.has(typeOf(volume)));
  if (bad.length === 0) return undefined;
  const types = sortedSet(bad.map(typeOf));
  const names = quoted(bad.map(({ name }) => name));
  const verb = bad.length === 1 ? 'uses' : 'use';
  return {
    reason: 'restricted volume types',
    detail: `${plural('volume', bad.length)} ${names} ${verb} ${plural('restricted volume type', types.length)} ${quoted(types)}`,
  };
};

const nonRoot: Find = (pod) => {
  const reason = 'runAsNonRoot != true';
  const byPod = pod.spec.securityContext?.runAsNonRoot;
  const bad = namesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false);
  if (byPod === false || bad.length > 0)
    return {
      reason,
      detail: `${settersText(byPod === false, bad)} must not set securityContext.runAsNonRoot=false`,
    };
  if (byPod === true) return undefined;
  const silent = namesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  return silent.length === 0
    ? undefined
    : { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` };
};

const rootUser: Find = (pod) => {
  const byPod = pod.spec.securityContext?.runAsUser === 0;
  const bad = namesWhere(pod, ({ securityContext }) => securityContext?.runAsUser === 0);
  return !byPod && bad.length === 0
    ? undefined
    : { reason: 'runAsUser=0', detail: `${settersText(byPod, bad)} must not set runAsUser=0` };
};

const seccomp = (pod: Subject): Violation | undefined => {
  const explicit = seccompBaseline(pod);
  if (explicit) return explicit;
  const podType = pod.spec.securityContext?.seccompProfile?.type;
  if (podType !== undefined && isConfined(podType)) return undefined;
  const silent = namesWhere(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined);
  return silent.length === 0
    ? undefined
    : {
        reason: 'seccompProfile',
        detail: `pod or ${containersText(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
      };
};

/** What a hardened workload does without. By id, as messages list them. */
export const RESTRICTED_CHECKS: readonly Check[] = [
  {
    id: 'allowPrivilegeEscalation',
    versions: [
      [8, escalation],
      [25, exceptWindows(escalation)],
    ],
  },
  {
    id: 'capabilities_restricted',
    versions: [
      [22, capabilities],
      [25, exceptWindows(capabilities)],
    ],
    overrides: 'capabilities_baseline',
  },
  { id: 'procMount_restricted', versions: [[35, procMount]], overrides: 'procMount' },
  { id: 'restrictedVolumes', versions: [[0, volumes]], overrides: 'hostPathVolumes' },
  {
    id: 'runAsNonRoot',
    versions: [
      [0, nonRoot],
      [35, exceptUserNamespaces(nonRoot)],
    ],
  },
  {
    id: 'runAsUser',
    versions: [
      [23, rootUser],
      [35, exceptUserNamespaces(rootUser)],
    ],
  },
  {
    id: 'seccompProfile_restricted',
    versions: [
      [19, seccomp],
      [25, exceptWindows(seccomp)],
    ],
    overrides: 'seccompProfile_baseline',
  },
];
