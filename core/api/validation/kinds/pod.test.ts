import { expect, test } from 'vitest';
import type { Obj } from '../read.ts';
import { container, metadata, podSpec, stored, texts } from '../testing/objects.ts';
import { PodRules } from './pod.ts';

const pod = (spec: Obj = {}): Obj => ({ metadata: metadata(), spec: podSpec(spec) });
const withContainer = (change: Obj, spec: Obj = {}): Obj => pod({ containers: [container(change)], ...spec });
const errorsOf = (object: Obj): string[] => texts(PodRules.create(object));
const C = 'spec.containers[0]';

test('a good pod passes', () => {
  expect(
    errorsOf(
      withContainer(
        {
          ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }],
          env: [
            { name: 'A', value: '1' },
            { name: 'B', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.labels['app']" } } },
          ],
          envFrom: [{ configMapRef: { name: 'cm' } }],
          volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'a/b' }],
          resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', 'nvidia.com/gpu': '1' } },
          livenessProbe: { httpGet: { path: '/', port: 'http', scheme: 'HTTP' }, successThreshold: 1 },
          securityContext: { runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        },
        {
          volumes: [{ name: 'v', emptyDir: {} }],
          tolerations: [{ operator: 'Exists' }],
          topologySpreadConstraints: [
            { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} },
          ],
        },
      ),
    ),
  ).toEqual([]);
});

test.each<[string, Obj, readonly string[]]>([
  ['no containers', pod({ containers: [] }), ['spec.containers: Required value']],
  ['no image', withContainer({ image: '' }), [`${C}.image: Required value`]],
  [
    'spaces around the image',
    withContainer({ image: ' a' }),
    [`${C}.image: Invalid value: " a": must not have leading or trailing whitespace`],
  ],
  [
    'twice a name',
    pod({ containers: [container(), container()] }),
    ['spec.containers[1].name: Duplicate value: "web"'],
  ],
  [
    'a bad pull policy',
    withContainer({ imagePullPolicy: 'Maybe' }),
    [`${C}.imagePullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"`],
  ],
  [
    'a port out of range',
    withContainer({ ports: [{ containerPort: 70000, protocol: 'TCP' }] }),
    [`${C}.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`],
  ],
  [
    'no port',
    withContainer({ ports: [{ protocol: 'TCP' }] }),
    [`${C}.ports[0].containerPort: Required value`],
  ],
  [
    'twice a host port',
    withContainer({
      ports: [
        { containerPort: 1, hostPort: 9, protocol: 'TCP' },
        { containerPort: 2, hostPort: 9, protocol: 'TCP' },
      ],
    }),
    [`${C}.ports[1].hostPort: Duplicate value: "TCP//9"`],
  ],
  [
    'a bad variable name',
    withContainer({ env: [{ name: 'a=b' }] }),
    [
      `${C}.env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`,
    ],
  ],
  [
    'value and valueFrom',
    withContainer({ env: [{ name: 'A', value: 'x', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }),
    [`${C}.env[0].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`],
  ],
  [
    'an unknown volume',
    withContainer({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
    [`${C}.volumeMounts[0].name: Not found: "v"`],
  ],
  [
    'no volume type',
    pod({ volumes: [{ name: 'v' }] }),
    ['spec.volumes[0]: Required value: must specify a volume type'],
  ],
  [
    'two volume types',
    pod({ volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/' } }] }),
    ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
  ],
  [
    'a back step',
    pod({ volumes: [{ name: 'v', hostPath: { path: '/a/../b' } }] }),
    [`spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain '..'`],
  ],
  [
    'a request above its limit',
    withContainer({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
    [`${C}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`],
  ],
  [
    'a negative request',
    withContainer({ resources: { requests: { memory: '-1' } } }),
    [`${C}.resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0`],
  ],
  [
    'an unknown resource',
    withContainer({ resources: { requests: { gpu: '1' } } }),
    [
      `${C}.resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified`,
      `${C}.resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers`,
    ],
  ],
  [
    'a fraction of a device',
    withContainer({ resources: { limits: { 'a.com/gpu': '1500m' } } }),
    [`${C}.resources.limits[a.com/gpu]: Invalid value: "1500m": must be an integer`],
  ],
  [
    'a probe without handler',
    withContainer({ livenessProbe: { successThreshold: 1 } }),
    [`${C}.livenessProbe: Required value: must specify a handler type`],
  ],
  [
    'a probe with two handlers',
    withContainer({ readinessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } }),
    [`${C}.readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`],
  ],
  [
    'a bad liveness threshold',
    withContainer({ livenessProbe: { exec: { command: ['a'] }, successThreshold: 2 } }),
    [`${C}.livenessProbe.successThreshold: Invalid value: 2: must be 1`],
  ],
  [
    'a bad restart policy',
    pod({ restartPolicy: 'Sometimes' }),
    ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
  ],
  [
    'a probe of an init container',
    pod({ initContainers: [container({ name: 'init', livenessProbe: {} })] }),
    [
      'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
    ],
  ],
  [
    'a toleration without key',
    pod({ tolerations: [{ operator: 'Equal' }] }),
    [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  [
    'a spread without skew',
    pod({ topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'x' }] }),
    [
      'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
      'spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty',
      'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "x": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ],
  ],
  [
    'a node affinity without terms',
    pod({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: {} } } }),
    [
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term',
    ],
  ],
  [
    'a host network port',
    withContainer({ ports: [{ containerPort: 80, protocol: 'TCP' }] }, { hostNetwork: true }),
    [`${C}.ports[0].hostPort: Invalid value: 0: must match \`containerPort\` when \`hostNetwork\` is true`],
  ],
  [
    'an impossible user',
    withContainer({ securityContext: { runAsUser: -1 } }),
    [`${C}.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`],
  ],
  [
    'no DNS servers',
    pod({ dnsPolicy: 'None' }),
    ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
  ],
])('%s is refused', (_name, object, expected) => {
  expect(errorsOf(object)).toEqual(expected);
});

const live = stored(
  pod({ nodeName: 'n1', tolerations: [{ key: 'a', operator: 'Exists' }], activeDeadlineSeconds: 100 }),
);
const changed = (spec: Obj): string[] =>
  texts(PodRules.update({ ...live, spec: { ...(live['spec'] as Obj), ...spec } }, live));

test('image, deadline and further tolerations may change', () => {
  expect(
    changed({
      containers: [container({ image: 'nginx:2' })],
      activeDeadlineSeconds: 50,
      tolerations: [
        { key: 'a', operator: 'Exists' },
        { key: 'b', operator: 'Exists' },
      ],
    }),
  ).toEqual([]);
});

test('the rest of a pod may not change', () => {
  expect([
    changed({ nodeName: 'n2' }),
    changed({ containers: [container(), container({ name: 'b' })] }),
    changed({ activeDeadlineSeconds: 200 }),
    changed({ tolerations: [] }),
  ]).toEqual([
    [
      'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\nspec.nodeName: "n1" -> "n2"',
    ],
    ['spec.containers: Forbidden: pod updates may not add or remove containers'],
    ['spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value'],
    ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
  ]);
});

test('ephemeral containers may be added with little in them, and stay', () => {
  const debug = container({ name: 'debug', targetContainerName: 'web' });
  const through = PodRules.subresources?.['ephemeralcontainers'];
  const withDebug = (before: Obj, ...list: Obj[]): string[] =>
    texts(
      through?.({ ...before, spec: { ...(before['spec'] as Obj), ephemeralContainers: list } }, before) ?? [],
    );
  const running = { ...live, spec: { ...(live['spec'] as Obj), ephemeralContainers: [debug] } };
  expect([
    withDebug(live, debug),
    withDebug(
      live,
      container({ name: 'web', targetContainerName: 'nope', ports: [{ containerPort: 1, protocol: 'TCP' }] }),
    ),
    withDebug(running),
    withDebug(running, { ...debug, image: 'other' }),
  ]).toEqual([
    [],
    [
      'spec.ephemeralContainers[0].name: Duplicate value: "web"',
      'spec.ephemeralContainers[0].targetContainerName: Not found: "nope"',
      'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
    ],
    ['spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n'],
    [
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be changed\nspec.ephemeralContainers.image: "nginx:1" -> "other"',
    ],
  ]);
});
