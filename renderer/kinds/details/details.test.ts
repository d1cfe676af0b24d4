// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import type { KubeObject } from '../kube-object.ts';
import { sectionsOf, type Block, type Cell, type Related } from './index.ts';

const wordOf = ({ text, tone, link, share }: Cell): string =>
  [
    text.replaceAll('\u00A0', ' '),
    tone && `<${tone}>`,
    link && `-> ${link.kind} ${link.namespace}/${link.name}`,
    share !== undefined && `${Math.round(share * 100)}%`,
  ]
    .filter(Boolean)
    .join(' ');
const linesOf = (block: Block): string[] =>
  block.form === 'facts'
    ? block.facts.map(({ label, value }) => `${label}: ${wordOf(value)}`)
    : [block.head.join(' | '), ...block.rows.map((row) => row.map(wordOf).join(' | '))];
/** A section as a person reads it: its title, then every block with its own. */
const shown = (object: KubeObject, related?: Related): Record<string, string[]> =>
  Object.fromEntries(
    sectionsOf(object, related).map(({ title, state, blocks, empty }) => [
      [title, state && wordOf(state)].filter(Boolean).join(', '),
      [
        ...blocks.flatMap((block) => [
          ...(block.title === undefined ? [] : [`[${block.title}]`]),
          ...linesOf(block),
        ]),
        ...(blocks.length === 0 && empty !== undefined ? [empty] : []),
      ],
    ]),
  );

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-1', namespace: 'shop' },
  spec: {
    nodeName: 'worker-1',
    serviceAccountName: 'web',
    volumes: [
      { name: 'settings', configMap: { name: 'web-settings' } },
      { name: 'scratch', emptyDir: {} },
    ],
    containers: [
      {
        name: 'web',
        image: 'web:1',
        ports: [{ name: 'http', containerPort: 8080 }],
        resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '1Gi' } },
        env: [
          { name: 'MODE', value: 'fast' },
          { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
          { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        ],
        envFrom: [{ prefix: 'APP_', configMapRef: { name: 'web-settings' } }],
        volumeMounts: [
          { name: 'settings', mountPath: '/etc/web', readOnly: true },
          { name: 'scratch', mountPath: '/tmp', subPath: 'web' },
        ],
        readinessProbe: { httpGet: { port: 8080, path: '/ready' }, periodSeconds: 5 },
        livenessProbe: { tcpSocket: { port: 8080 } },
      },
    ],
  },
  status: {
    podIP: '10.0.0.9',
    qosClass: 'Burstable',
    containerStatuses: [
      {
        name: 'web',
        ready: false,
        started: true,
        restartCount: 2,
        state: { running: { startedAt: '2026-01-01T10:00:00Z' } },
      },
    ],
  },
};

test('a pod shows requests, probes with their last result, variables with their source, and mounts', () => {
  const related: Related = {
    probeFailures: [
      {
        container: 'web',
        probe: 'readiness',
        message: 'statuscode: 503',
        atMs: Date.parse('2026-01-01T10:05:00Z'),
      },
      // Of the instance before: says nothing about this one.
      { container: 'web', probe: 'liveness', message: 'refused', atMs: Date.parse('2026-01-01T09:00:00Z') },
    ],
  };
  const { ['Container web, Running, not ready <pending>']: web = [], Placement: placement } = shown(
    pod,
    related,
  );
  expect(placement).toEqual([
    'Node: worker-1 -> Node /worker-1',
    'Pod IPs: 10.0.0.9',
    'QoS class: Burstable',
    'Service account: web',
  ]);
  expect(web.slice(0, 3)).toEqual(['Image: web:1', 'Ports: http 8080/TCP', 'Restarts: 2']);
  expect(web.slice(4, 8)).toEqual([
    '[Requests and limits]',
    'Resource | Request | Limit',
    'cpu | 100m | –',
    'memory | 64Mi | 1Gi',
  ]);
  expect(web.slice(8).map((line) => line.replace(/at \d\d:\d\d:\d\d/, 'at TIME'))).toEqual([
    '[Probes]',
    'Probe | Check | Last result',
    'Readiness | HTTP GET :8080/ready every 5 s, timeout 1 s, failure threshold 3 | Failed at TIME: statuscode: 503 <error>',
    'Liveness | TCP :8080 every 10 s, timeout 1 s, failure threshold 3 | Passing <ok>',
    '[Environment]',
    'Name | Value or key | Source',
    'APP_* | all keys | ConfigMap web-settings -> ConfigMap shop/web-settings',
    'MODE | fast | Literal',
    'PASSWORD | password | Secret db -> Secret shop/db',
    'NODE | spec.nodeName | Pod field',
    '[Mounts]',
    'Path | Volume | Source',
    '/etc/web (read-only) | settings | ConfigMap web-settings -> ConfigMap shop/web-settings',
    '/tmp | scratch/web | emptyDir',
  ]);
});

test('a service shows its ports, selector and endpoints, and says when there are none', () => {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      type: 'NodePort',
      clusterIPs: ['10.96.0.7'],
      selector: { app: 'web' },
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080, nodePort: 30080 }],
    },
  };
  const slice = {
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: [
      { addresses: ['10.0.0.9'], conditions: { ready: true }, targetRef: { kind: 'Pod', name: 'web-1' } },
      { addresses: ['10.0.0.8'], conditions: { ready: false } },
    ],
  };
  expect(shown(service, { endpointSlices: [slice] })).toEqual({
    Service: [
      'Type: NodePort',
      'Cluster IPs: 10.96.0.7',
      'Selector: app=web',
      '[Ports]',
      'Name | Port | Target port | Node port',
      'http | 80/TCP | 8080 | 30080',
    ],
    'Endpoints, 1 of 2 ready <warn>': [
      'Address | Ports | Target | State',
      '10.0.0.9 | http 8080/TCP | web-1 -> Pod shop/web-1 | Ready <ok>',
      '10.0.0.8 | http 8080/TCP | – | Not ready <warn>',
    ],
  });
  expect(Object.keys(shown(service, { endpointSlices: [] }))).toContain('Endpoints, 0 of 0 ready <error>');
  // Not read yet is not the same as none.
  expect(Object.keys(shown(service))).toEqual(['Service']);
});

test('a node shows what its pods ask for of what it can give, and its taints', () => {
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'worker-1' },
    spec: { taints: [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }] },
    status: {
      capacity: { cpu: '4', memory: '16384256Ki', pods: '110' },
      allocatable: { pods: '110', memory: '8Gi', cpu: '2', 'hugepages-2Mi': '0' },
    },
  };
  const ended = { ...pod, status: { phase: 'Succeeded' } };
  expect(shown(node, { pods: [pod, ended] })).toEqual({
    Node: ['Scheduling: Enabled <ok>'],
    'Capacity and allocation': [
      'Resource | Capacity | Allocatable | Requested | Limits',
      'cpu | 4 | 2 | 100m, 5.0 % 5% | 0, 0.0 % 0%',
      'memory | 16Gi | 8Gi | 64Mi, 0.8 % 1% | 1Gi, 12.5 % 13%',
      'pods | 110 | 110 | 1, 0.9 % 1% | –',
    ],
    Taints: ['Key | Value | Effect', 'dedicated | gpu | NoSchedule'],
  });
});

test('roles show rules, bindings show the role and its subjects', () => {
  const rbac = 'rbac.authorization.k8s.io/v1';
  const role = {
    apiVersion: rbac,
    kind: 'ClusterRole',
    rules: [
      { apiGroups: ['', 'apps'], resources: ['pods', 'deployments'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['db'], verbs: ['get'] },
      { nonResourceURLs: ['/metrics'], verbs: ['get'] },
    ],
  };
  expect(shown(role)).toEqual({
    '3 rules': [
      'Resources or URLs | API groups | Verbs',
      'pods, deployments | core, apps | get, list',
      'secrets, only db | core | get',
      '/metrics | – | get',
    ],
  });
  const binding = {
    apiVersion: rbac,
    kind: 'RoleBinding',
    metadata: { namespace: 'shop' },
    roleRef: { kind: 'Role', name: 'reader' },
    subjects: [
      { kind: 'User', name: 'ada' },
      { kind: 'ServiceAccount', name: 'web' },
    ],
  };
  expect(shown(binding)).toEqual({
    'Role and subjects': [
      'Role: Role reader -> Role shop/reader',
      'Kind | Name | Namespace',
      'User | ada | –',
      'ServiceAccount | web -> ServiceAccount shop/web | shop',
    ],
  });
});

test('claims and volumes point to each other; a definition lists its versions', () => {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    spec: {
      volumeName: 'pv-1',
      storageClassName: 'fast',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
    },
    status: { phase: 'Bound', capacity: { storage: '2Gi' } },
  };
  expect(shown(claim)['Claim']).toEqual([
    'Phase: Bound <ok>',
    'Volume: pv-1 -> PersistentVolume /pv-1',
    'Storage class: fast -> StorageClass /fast',
    'Requested: 1Gi',
    'Capacity: 2Gi',
    'Access modes: ReadWriteOnce',
  ]);
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    spec: {
      capacity: { storage: '2Gi' },
      claimRef: { namespace: 'shop', name: 'data' },
      hostPath: { path: '/var/data' },
    },
    status: { phase: 'Bound' },
  };
  expect(shown(volume)['Volume']).toEqual([
    'Phase: Bound <ok>',
    'Capacity: 2Gi',
    'Claim: shop/data -> PersistentVolumeClaim shop/data',
    '[Source: hostPath]',
    'path: /var/data',
  ]);
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Ship' },
      versions: [
        { name: 'v1', served: true, storage: true, subresources: { status: {} } },
        { name: 'v1beta1', served: true, storage: false, deprecated: true },
      ],
    },
  };
  expect(shown(definition)['Versions']).toEqual([
    'Version | Served | Storage | Subresources | Deprecation',
    'v1 | Yes | Yes | status | –',
    'v1beta1 | Yes | No | – | Deprecated <warn>',
  ]);
});

test('an ingress shows its routes and an autoscaler its figures', () => {
  const ingress = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { namespace: 'shop' },
    spec: {
      ingressClassName: 'nginx',
      rules: [
        {
          host: 'shop.example.com',
          http: {
            paths: [
              { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } },
            ],
          },
        },
      ],
      tls: [{ hosts: ['shop.example.com'], secretName: 'shop-tls' }],
    },
  };
  expect(shown(ingress)['Routes']).toEqual([
    'Ingress class: nginx -> IngressClass /nginx',
    'Host | Path | Match | Backend',
    'shop.example.com | / | Prefix | web:80 -> Service shop/web',
    '[TLS]',
    'Hosts | Secret',
    'shop.example.com | shop-tls -> Secret shop/shop-tls',
  ]);
  const autoscaler = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { namespace: 'shop' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 2,
      maxReplicas: 8,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
        },
        {
          type: 'Resource',
          resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
        },
      ],
    },
    status: {
      currentReplicas: 3,
      desiredReplicas: 4,
      currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40 } } }],
    },
  };
  expect(shown(autoscaler)['Autoscaling']).toEqual([
    'Scales: Deployment web -> Deployment shop/web',
    'Replicas: 3 current, 4 desired',
    'Min and max: 2 to 8',
    'Last scaled: never',
    '[Metrics]',
    'Metric | Current | Target',
    'Resource cpu | 40 % 50% | 80 %',
    'Resource memory | unknown <warn> | 1Gi',
  ]);
});

test('a kind of no one we know has no sections of its own', () => {
  expect(
    sectionsOf({ apiVersion: 'example.com/v1', kind: 'Pod', spec: { containers: [{ name: 'x' }] } }),
  ).toEqual([]);
});

test('a custom object shows the fields of its spec and status by their names', () => {
  const object = {
    apiVersion: 'cert.example.com/v1',
    kind: 'Certificate',
    spec: { secretName: 'tls', dnsNames: ['a', 'b'], issuerRef: { name: 'ca', deep: { er: { more: 1 } } } },
    status: { ready: true, conditions: [{ type: 'Ready', status: 'True' }] },
  };
  expect(shown(object)).toEqual({
    spec: ['secretName: tls', 'dnsNames: a, b', 'issuerRef.name: ca', 'issuerRef.deep.er.more: 1'],
    status: ['ready: true'],
  });
});
