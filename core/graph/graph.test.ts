import { expect, test } from 'vitest';
import type { KubernetesObject } from '../api/meta/index.ts';
import type { V1Pod, V1PodSpec } from '../api/schema/index.ts';
import { inEnglish, isSentenceCode } from '../contract/index.ts';
import { buildGraph, graphKindOf, graphTree, type Denial, type GraphKind } from './index.ts';

const NAMESPACE = 'shop';
let uids = 0;
const object = (
  kind: GraphKind,
  name: string,
  rest: object = {},
  metadata: object = {},
): [GraphKind, KubernetesObject] => [
  kind,
  { kind, metadata: { namespace: NAMESPACE, name, uid: `uid-${(uids += 1)}`, ...metadata }, ...rest },
];
const clusterWide = (
  kind: GraphKind,
  name: string,
  rest: object = {},
  metadata: object = {},
): [GraphKind, KubernetesObject] => object(kind, name, rest, { namespace: undefined, ...metadata });

const READY = [{ type: 'Ready', status: 'True' }];
const container = (more: object = {}): object => ({ name: 'app', image: 'nginx', ...more });
const pod = (
  name: string,
  spec: Partial<V1PodSpec> = {},
  more: object = {},
  metadata: object = {},
): [GraphKind, KubernetesObject] =>
  object(
    'Pod',
    name,
    {
      spec: { containers: [container()], nodeName: 'worker-1', ...spec },
      status: {
        phase: 'Running',
        conditions: READY,
        containerStatuses: [{ name: 'app', ready: true, state: { running: {} } }],
      },
      ...more,
    },
    { labels: { app: 'web' }, ...metadata },
  );
const pending = (
  name: string,
  spec: Partial<V1PodSpec> = {},
  more: object = {},
): [GraphKind, KubernetesObject] =>
  pod(name, { nodeName: '', ...spec }, { status: { phase: 'Pending', ...more } });
const service = (spec: object = {}, name = 'web'): [GraphKind, KubernetesObject] =>
  object('Service', name, {
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
  });
const node = (name = 'worker-1', spec: object = {}, more: object = {}): [GraphKind, KubernetesObject] =>
  clusterWide(
    'Node',
    name,
    { spec, status: { conditions: READY, allocatable: { cpu: '4', memory: '8Gi', pods: '110' } } },
    more,
  );
const account = (name = 'default'): [GraphKind, KubernetesObject] => object('ServiceAccount', name);
const ownedBy = (kind: string, name: string): object => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: 'x', controller: true }],
  labels: { app: 'web' },
});

interface Extra {
  readonly unread?: readonly GraphKind[];
  readonly denials?: readonly Denial[];
  readonly placed?: readonly V1Pod[];
}
const build = (objects: readonly [GraphKind, KubernetesObject][], extra: Extra = {}, focus?: string) => {
  const map = new Map<GraphKind, KubernetesObject[]>();
  for (const [kind, one] of [node(), account(), ...objects]) map.set(kind, [...(map.get(kind) ?? []), one]);
  const placedPods = extra.placed ?? (map.get('Pod') as V1Pod[] | undefined) ?? [];
  return buildGraph(
    { objects: map, unread: new Set(extra.unread), placedPods, denials: extra.denials ?? [] },
    focus,
  );
};
/** `from -> to: sentence | command` of all that is wrong. */
const wrong = (objects: readonly [GraphKind, KubernetesObject][], extra: Extra = {}): string[] => {
  const graph = build(objects, extra);
  const reasons = [
    ...(graph?.edges ?? []).flatMap(({ from, to, reasons: all }) =>
      all.map((reason) => ({ at: `${from} -> ${to}`, reason })),
    ),
    ...(graph?.nodes ?? []).flatMap(({ id, reasons: all }) => all.map((reason) => ({ at: id, reason }))),
  ];
  for (const { reason } of reasons) {
    expect(isSentenceCode(reason.what.code)).toBe(true);
    expect(`${inEnglish(reason.what)} ${inEnglish(reason.fix)}`).not.toContain('{');
  }
  return reasons.map(
    ({ at, reason }) =>
      `${at}: ${inEnglish(reason.what)}${reason.command === null ? '' : ` | ${reason.command}`}`,
  );
};
const slice = (...pods: string[]): [GraphKind, KubernetesObject] =>
  object(
    'EndpointSlice',
    'web-x',
    { endpoints: pods.map((name) => ({ conditions: { ready: true }, targetRef: { kind: 'Pod', name } })) },
    { labels: { 'kubernetes.io/service-name': 'web' } },
  );

test('an application that works has no reasons', () => {
  expect(wrong([service(), slice('web-1'), pod('web-1')])).toEqual([]);
});

test('a selector that matches nothing names the closest labels and the command that repairs it', () => {
  expect(wrong([service({ selector: { app: 'wbe' } }), pod('web-1')])).toEqual([
    'Service/shop/web -> Pod/shop/app=wbe: the selector app=wbe matches no pods; Pod web-1 has app=web | kubectl -n shop set selector service/web app=web',
  ]);
  expect(wrong([service({ selector: { tier: 'x' } }), pod('web-1')])[0]).toContain(
    'tier=x matches no pods |',
  );
  const idle = object('Deployment', 'web', {
    spec: { replicas: 0, template: { metadata: { labels: { app: 'web' } } } },
  });
  expect(wrong([service(), idle])[0]).toContain(
    'matches Deployment web, which has no pods | kubectl -n shop scale deployment/web --replicas=1',
  );
});

test('endpoints: none ready, none published, a port that no container declares', () => {
  const unready = pod(
    'web-1',
    {},
    {
      status: {
        phase: 'Running',
        containerStatuses: [{ name: 'app', ready: false, state: { running: {} } }],
      },
    },
  );
  expect(wrong([service(), slice('web-1'), unready])).toEqual([
    'Service/shop/web: its only pod is not ready, so no traffic is sent to it',
    'Pod/shop/web-1: container "app" is not ready | kubectl -n shop logs web-1 -c app',
  ]);
  expect(wrong([service(), pod('web-1')])[0]).toContain(
    'no endpoints are published although ready pods match',
  );
  expect(
    wrong([
      service({ ports: [{ port: 80, targetPort: 'http' }] }),
      slice(),
      pod('web-1', { containers: [container({ ports: [{ name: 'web', containerPort: 80 }] })] as never }),
    ])[0],
  ).toBe(
    'Service/shop/web -> Pod/shop/web-1: port "http" is not declared by Pod web-1; declared ports: web | kubectl -n shop edit service web',
  );
});

test('an Ingress to a Service, a port, a class or a Secret that does not exist', () => {
  const ingress = object('Ingress', 'front', {
    spec: {
      ingressClassName: 'nginx',
      tls: [{ secretName: 'cert' }],
      rules: [
        {
          http: {
            paths: [
              { backend: { service: { name: 'web', port: { number: 81 } } } },
              { backend: { service: { name: 'gone', port: { number: 80 } } } },
            ],
          },
        },
      ],
    },
  });
  expect(
    wrong([ingress, service(), slice('web-1'), pod('web-1')]).map((line) => line.split(' | ')[0]),
  ).toEqual([
    'Ingress/shop/front -> IngressClass//nginx: IngressClass "nginx" does not exist',
    'Ingress/shop/front -> Service/shop/web: port "81" is not declared by Service web; declared ports: 80',
    'Ingress/shop/front -> Service/shop/gone: Service "gone" does not exist',
    'Ingress/shop/front -> Secret/shop/cert: Secret "cert" does not exist',
  ]);
});

test('config: a missing ConfigMap, a missing key, and nothing about optional ones or kinds that were not read', () => {
  const needy = pod('web-1', {
    containers: [
      container({
        env: [
          { name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'mode' } } },
          { name: 'B', valueFrom: { secretKeyRef: { name: 'token', key: 'password' } } },
          { name: 'C', valueFrom: { secretKeyRef: { name: 'other', key: 'x', optional: true } } },
        ],
      }),
    ] as never,
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
    serviceAccountName: 'robot',
    imagePullSecrets: [{ name: 'registry' }],
  });
  const secret = object('Secret', 'token', { data: { user: '' } });
  expect(wrong([needy, secret]).map((line) => line.split(' | ')[0])).toEqual([
    'Pod/shop/web-1 -> ConfigMap/shop/settings: ConfigMap "settings" does not exist',
    'Pod/shop/web-1 -> Secret/shop/token: Secret "token" has no key "password"; keys: user',
    'Pod/shop/web-1 -> PersistentVolumeClaim/shop/data: PersistentVolumeClaim "data" does not exist',
    'Pod/shop/web-1 -> ServiceAccount/shop/robot: ServiceAccount "robot" does not exist',
    'Pod/shop/web-1 -> Secret/shop/registry: Secret "registry" does not exist',
  ]);
  expect(
    wrong([needy], { unread: ['ConfigMap', 'Secret', 'PersistentVolumeClaim', 'ServiceAccount'] }),
  ).toEqual([]);
});

test('a template without pods shows what keeps them from being created', () => {
  const set = object('StatefulSet', 'db', {
    spec: { replicas: 1, template: { spec: { serviceAccountName: 'gone', containers: [] } } },
  });
  expect(wrong([set])[0]).toContain(
    'StatefulSet/shop/db -> ServiceAccount/shop/gone: ServiceAccount "gone" does not exist | kubectl -n shop create serviceaccount gone',
  );
});

test.each<[string, [GraphKind, KubernetesObject][], string]>([
  [
    'capacity',
    [
      pending('big', { containers: [container({ resources: { requests: { cpu: '4' } } })] as never }),
      pod('small', { containers: [container({ resources: { requests: { cpu: '800m' } } })] as never }),
    ],
    'requests 4 CPU; worker-1 has the most free: 3.2',
  ],
  [
    'a node selector',
    [pending('lost', { nodeSelector: { disk: 'ssd' } })],
    'no node matches the node selector or affinity disk=ssd | kubectl get nodes --show-labels',
  ],
  [
    'gates',
    [pending('gated', { schedulingGates: [{ name: 'wait' }] })],
    'waits for its scheduling gates: wait',
  ],
  [
    'the scheduler itself',
    [pending('odd', {}, { conditions: [{ type: 'PodScheduled', status: 'False', message: 'no luck' }] })],
    'the scheduler reports: no luck',
  ],
  ['no scheduler', [pending('early')], 'scheduler "default-scheduler" has not looked at it yet'],
])('a pod without a node says why: %s', (_, objects, text) => {
  expect(wrong(objects).join()).toContain(text);
});

test('taints and cordons', () => {
  const judge = (spec: object): string => {
    const graph = buildGraph(
      {
        objects: new Map([
          ['Pod', [pending('a')[1]]],
          ['Node', [node('n', spec)[1]]],
          ['ServiceAccount', [account()[1]]],
        ]),
        unread: new Set(),
        placedPods: [],
        denials: [],
      },
      'Pod/shop/a',
    );
    return (graph?.nodes ?? []).flatMap(({ reasons }) => reasons.map(({ what }) => inEnglish(what))).join();
  };
  expect([
    judge({ taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] }),
    judge({
      unschedulable: true,
      taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
    }),
  ]).toEqual([
    'does not tolerate the taint gpu=yes:NoSchedule of the only node',
    'every node that would fit is cordoned',
  ]);
});

test.each<[string, string | undefined, [GraphKind, KubernetesObject][], string]>([
  ['no class and no default', undefined, [], 'names no storage class, and no class is the default'],
  ['a class that does not exist', 'fast', [], 'StorageClass "fast" does not exist'],
  [
    'first use',
    'local',
    [clusterWide('StorageClass', 'local', { provisioner: 'x', volumeBindingMode: 'WaitForFirstConsumer' })],
    'waits until a pod uses it (class "local" binds on first use)',
  ],
  [
    'no volume',
    'manual',
    [clusterWide('StorageClass', 'manual', { provisioner: 'kubernetes.io/no-provisioner' })],
    'no free volume matches: 10Gi of class "manual" needed',
  ],
  [
    'its provisioner',
    'cloud',
    [clusterWide('StorageClass', 'cloud', { provisioner: 'csi.example' })],
    'waits for provisioner "csi.example" of class "cloud"',
  ],
])('a pending claim says what it waits for: %s', (_, className, more, text) => {
  const claim = object('PersistentVolumeClaim', 'data', {
    spec: {
      storageClassName: className,
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '10Gi' } },
    },
    status: { phase: 'Pending' },
  });
  expect(wrong([claim, ...more]).join()).toContain(text);
});

test('a claim that lost its volume, and one whose pod is not scheduled', () => {
  const lost = object('PersistentVolumeClaim', 'data', {
    spec: { volumeName: 'pv-1' },
    status: { phase: 'Lost' },
  });
  expect(wrong([lost])[0]).toContain('its volume "pv-1" no longer exists');
  const waiting = object('PersistentVolumeClaim', 'data', {
    spec: { storageClassName: 'local' },
    status: { phase: 'Pending' },
  });
  const user = pending('big', {
    nodeSelector: { x: 'y' },
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
  });
  const local = clusterWide('StorageClass', 'local', {
    provisioner: 'x',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  expect(wrong([waiting, user, local]).join()).toContain('waits until pod "big" is scheduled');
  const refused = { conditions: [{ type: 'PodScheduled', status: 'False', message: 'unbound' }] };
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
  expect(wrong([waiting, pending('small', { volumes }, refused), local]).join()).toContain(
    'its claim "data" is not bound | kubectl -n shop describe pvc data',
  );
});

test('RBAC: a role that does not exist, and a rule that requests were denied for until it is granted', () => {
  const bind = (role: string) =>
    object('RoleBinding', 'read', {
      roleRef: { kind: 'Role', name: role },
      subjects: [{ kind: 'ServiceAccount', name: 'robot' }],
    });
  const denials: Denial[] = [
    {
      account: { namespace: NAMESPACE, name: 'robot' },
      verb: 'list',
      group: '',
      resource: 'pods',
      namespace: NAMESPACE,
      name: '',
      count: 3,
    },
  ];
  const user = pod('web-1', { serviceAccountName: 'robot' });
  const role = object('Role', 'reader', {
    rules: [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }],
  });
  expect(wrong([user, account('robot'), bind('gone')]).join()).toContain(
    'RoleBinding/shop/read -> Role/shop/gone: Role "gone" does not exist',
  );
  expect(wrong([user, account('robot')], { denials })).toEqual([
    'ServiceAccount/shop/robot -> Role/shop/robot-list-pods: was denied list pods 3 times | kubectl -n shop create role robot-list-pods --verb=list --resource=pods && kubectl -n shop create rolebinding robot-list-pods --role=robot-list-pods --serviceaccount=shop:robot',
  ]);
  expect(wrong([user, account('robot'), bind('reader'), role], { denials })).toEqual([]);
});

test('a quota that leaves no room for the next pod, and other refusals in the words of the server', () => {
  const failure = {
    conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'forbidden by policy' }],
  };
  const set = (status: object) =>
    object('ReplicaSet', 'web', {
      spec: {
        replicas: 2,
        template: { spec: { containers: [container({ resources: { requests: { cpu: '1' } } })] } },
      },
      status: { replicas: 1, ...status },
    });
  const quota = object('ResourceQuota', 'team', {
    status: { hard: { 'requests.cpu': '1500m' }, used: { 'requests.cpu': '1' } },
  });
  expect(wrong([set(failure), quota])[0]).toContain(
    'ResourceQuota/shop/team -> ReplicaSet/shop/web: quota "team" allows 1.5 requests.cpu, 1 are used, and a new pod needs 1 | kubectl -n shop patch resourcequota team',
  );
  expect(wrong([set(failure)])[0]).toBe('ReplicaSet/shop/web: cannot create pods: forbidden by policy');
});

test('policies: a port that is closed to everyone, and blocked DNS', () => {
  const deny = object('NetworkPolicy', 'deny', {
    spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
  });
  expect(wrong([service(), slice('web-1'), pod('web-1'), deny]).map((line) => line.split(' | ')[0])).toEqual([
    'NetworkPolicy/shop/deny -> Pod/shop/web-1: NetworkPolicy deny blocks DNS: pods cannot resolve names',
    'NetworkPolicy/shop/deny -> Pod/shop/web-1: NetworkPolicy deny allows no traffic to port 8080, which Service "web" sends to',
  ]);
});

test('containers, nodes, autoscalers and budgets', () => {
  const broken = (state: object, more: object = {}) =>
    pod(
      'web-1',
      {},
      {
        status: {
          phase: 'Running',
          containerStatuses: [{ name: 'app', image: 'ngnix', ready: false, restartCount: 4, state, ...more }],
        },
      },
    );
  const text = (...objects: [GraphKind, KubernetesObject][]): string => wrong(objects).join();
  expect(text(broken({ waiting: { reason: 'ErrImagePull', message: 'no such image' } }))).toContain(
    'cannot pull image ngnix: no such image',
  );
  expect(
    text(broken({ waiting: { reason: 'CrashLoopBackOff' } }, { lastState: { terminated: { exitCode: 3 } } })),
  ).toContain(
    'container "app" exits with code 3 and was restarted 4 times | kubectl -n shop logs web-1 -c app --previous',
  );
  expect(
    text(broken({ waiting: { reason: 'CreateContainerConfigError', message: 'secret "x" not found' } })),
  ).toContain('cannot start: secret "x" not found');
  expect(text(pod('web-1', { nodeName: 'gone' }))).toContain('Node "gone" does not exist');
  expect(
    text(
      clusterWide('Node', 'sick', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }),
      pod('web-1', { nodeName: 'sick' }),
    ),
  ).toContain('node "sick" is not ready');
  expect(
    text(
      object('HorizontalPodAutoscaler', 'web', {
        spec: { scaleTargetRef: { kind: 'Deployment', name: 'gone' }, maxReplicas: 3 },
        status: { conditions: [{ type: 'ScalingActive', status: 'False', message: 'no metrics' }] },
      }),
    ),
  ).toContain('Deployment "gone" does not exist,HorizontalPodAutoscaler/shop/web: cannot scale: no metrics');
  const budget = (status: object, app = 'web') =>
    object('PodDisruptionBudget', 'web', { spec: { selector: { matchLabels: { app } } }, status });
  expect(
    text(
      budget({ currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0, expectedPods: 1 }),
      pod('web-1'),
    ),
  ).toContain('allows no evictions: 1 healthy pods, 1 required');
  expect(text(budget({}, 'x'))).toContain('the selector app=x matches no pods');
});

test('an application ends where shared objects begin, and a namespace is everything in it', () => {
  const set = (name: string) => object('ReplicaSet', name, { spec: { replicas: 1 } });
  const member = (name: string, owner: string) =>
    pod(
      name,
      { volumes: [{ name: 'c', configMap: { name: 'shared' } }] },
      {},
      { ...ownedBy('ReplicaSet', owner), labels: { app: owner } },
    );
  const objects = [
    set('web'),
    set('api'),
    member('web-1', 'web'),
    member('api-1', 'api'),
    object('ConfigMap', 'shared'),
    clusterWide('ClusterRole', 'unused'),
  ];
  const ids = (focus?: string): string[] =>
    (build(objects, {}, focus)?.nodes ?? []).map(({ id }) => id).sort();
  expect([ids('ReplicaSet/shop/web'), ids('ConfigMap/shop/shared'), ids(), ids('Pod/shop/none')]).toEqual([
    ['ConfigMap/shop/shared', 'Pod/shop/web-1', 'ReplicaSet/shop/web'],
    [
      'ConfigMap/shop/shared',
      'Pod/shop/api-1',
      'Pod/shop/web-1',
      'ReplicaSet/shop/api',
      'ReplicaSet/shop/web',
    ],
    [
      'ConfigMap/shop/shared',
      'Pod/shop/api-1',
      'Pod/shop/web-1',
      'ReplicaSet/shop/api',
      'ReplicaSet/shop/web',
    ],
    [],
  ]);
});

test('pods that look the same are one node, and the tree says so', () => {
  const pods = ['a', 'b', 'c', 'd', 'e'].map((name) => pod(name, {}, {}, ownedBy('ReplicaSet', 'web')));
  const graph = build(
    [object('ReplicaSet', 'web', { spec: { replicas: 6 }, status: { readyReplicas: 5 } }), ...pods],
    {},
    'ReplicaSet/shop/web',
  );
  expect(graphTree(graph!)).toEqual(['ReplicaSet/web 5/6 [waiting]', '└─ owns Pod/a (+4 alike) 1/1']);
});

test('the tree prints reasons under the relation that is broken', () => {
  expect(
    graphTree(build([service({ selector: { app: 'wbe' } }), pod('web-1')], {}, 'Service/shop/web')!),
  ).toEqual([
    'Service/web ClusterIP',
    '└─ selects Pod/app=wbe [missing]',
    '     ✗ the selector app=wbe matches no pods; Pod web-1 has app=web',
    '       fix: change the selector to app=web, or the labels of the pod template to app=wbe',
    '       $ kubectl -n shop set selector service/web app=web',
  ]);
});

test('kinds are named as kubectl names them', () => {
  expect(['deploy', 'Deployment', 'deployments.apps', 'PODS', 'nope'].map(graphKindOf)).toEqual([
    'Deployment',
    'Deployment',
    'Deployment',
    'Pod',
    undefined,
  ]);
});

test('hostile input: a name cannot put words into a command', () => {
  const binding = object('RoleBinding', 'b', {
    roleRef: { kind: 'Role', name: 'x; rm -rf ~' },
    subjects: [],
  });
  expect(wrong([binding])[0]).toContain("create role 'x; rm -rf ~' --verb=VERB");
});

test('hostile input: owners in a circle end', () => {
  const circle = [
    object('ReplicaSet', 'a', {}, ownedBy('ReplicaSet', 'b')),
    object('ReplicaSet', 'b', {}, ownedBy('ReplicaSet', 'a')),
    pod('p', {}, {}, ownedBy('ReplicaSet', 'a')),
    object('NetworkPolicy', 'all', { spec: { podSelector: {} } }),
  ];
  expect(graphTree(build(circle)!).length).toBeGreaterThan(3);
});
