import { expect, test } from 'vitest';
import { findStruct, structOf } from '../models.ts';
import { applyDefaults, pullPolicyOf, typesWithDefaulter } from './index.ts';

const NOW = '2026-01-01T00:00:00Z';

const defaulted = (typeId: string, object: Record<string, unknown>, minor = 36): Record<string, unknown> => {
  applyDefaults(structOf(typeId), object, { minor, now: NOW });
  return object;
};

const POD_SPEC = {
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
  schedulerName: 'default-scheduler',
};
const CONTAINER = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' };

test('every defaulter is for a type that exists', () => {
  expect(typesWithDefaulter().filter((id) => findStruct(id) === undefined)).toEqual([]);
});

test('a pod gets what upstream gives it', () => {
  const pod = defaulted('core.v1.Pod', {
    metadata: { name: 'a' },
    spec: {
      serviceAccount: 'robot',
      containers: [
        {
          name: 'c',
          image: 'nginx',
          ports: [{ containerPort: 80 }],
          resources: { limits: { cpu: '1' }, requests: { memory: '1Gi' } },
          livenessProbe: { httpGet: { port: 80 }, periodSeconds: 5 },
          readinessProbe: { grpc: { port: 1 } },
          env: [{ name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
        },
      ],
      volumes: [
        { name: 'e' },
        { name: 's', secret: { secretName: 'x' } },
        { name: 'p', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
        { name: 'h', hostPath: { path: '/' } },
        { name: 'i', iscsi: { iqn: 'q', lun: 0, targetPortal: 'p' } },
      ],
    },
  });
  expect(pod).toEqual({
    metadata: { name: 'a' },
    spec: {
      ...POD_SPEC,
      enableServiceLinks: true,
      serviceAccount: 'robot',
      serviceAccountName: 'robot',
      containers: [
        {
          ...CONTAINER,
          name: 'c',
          image: 'nginx',
          imagePullPolicy: 'Always',
          ports: [{ containerPort: 80, protocol: 'TCP' }],
          resources: { limits: { cpu: '1' }, requests: { cpu: '1', memory: '1Gi' } },
          livenessProbe: {
            httpGet: { port: 80, path: '/', scheme: 'HTTP' },
            periodSeconds: 5,
            timeoutSeconds: 1,
            successThreshold: 1,
            failureThreshold: 3,
          },
          readinessProbe: {
            grpc: { port: 1, service: '' },
            periodSeconds: 10,
            timeoutSeconds: 1,
            successThreshold: 1,
            failureThreshold: 3,
          },
          env: [{ name: 'N', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }],
        },
      ],
      volumes: [
        { name: 'e', emptyDir: {} },
        { name: 's', secret: { secretName: 'x', defaultMode: 420 } },
        {
          name: 'p',
          projected: {
            defaultMode: 420,
            sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }],
          },
        },
        { name: 'h', hostPath: { path: '/', type: '' } },
        { name: 'i', iscsi: { iqn: 'q', lun: 0, targetPortal: 'p', iscsiInterface: 'default' } },
      ],
    },
  });
});

test('a pod on the host network binds the ports it names', () => {
  const pod = defaulted('core.v1.Pod', {
    spec: { hostNetwork: true, containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] },
  });
  expect(pod).toMatchObject({
    spec: { containers: [{ ports: [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }] }] },
  });
});

test('requests of the pod come from its containers where it has limits of its own', () => {
  const pod = defaulted('core.v1.Pod', {
    spec: {
      resources: { limits: { cpu: '2', memory: '1Gi' } },
      containers: [
        { name: 'a', resources: { requests: { cpu: '100m' } } },
        { name: 'b', resources: { requests: { cpu: '200m' } } },
      ],
      initContainers: [{ name: 'i', resources: { requests: { cpu: '250m' } } }],
    },
  });
  expect(pod).toMatchObject({ spec: { resources: { requests: { cpu: '300m', memory: '1Gi' } } } });
});

test.each([
  ['nginx', 'Always'],
  ['nginx:latest', 'Always'],
  ['nginx:1.27', 'IfNotPresent'],
  ['registry:5000/nginx', 'Always'],
  ['registry:5000/nginx:1', 'IfNotPresent'],
  ['nginx@sha256:abc', 'IfNotPresent'],
  ['nginx:latest@sha256:abc', 'Always'],
  ['', 'IfNotPresent'],
])('the image %j is pulled %s', (image, policy) => {
  expect(pullPolicyOf(image)).toBe(policy);
});

test('an image volume gets a pull policy once image volumes are on', () => {
  const pod = (minor: number): unknown =>
    defaulted('core.v1.PodSpec', { volumes: [{ name: 'v', image: { reference: 'a:1' } }] }, minor)['volumes'];
  expect([pod(34), pod(35)]).toEqual([
    [{ name: 'v', image: { reference: 'a:1' } }],
    [{ name: 'v', image: { reference: 'a:1', pullPolicy: 'IfNotPresent' } }],
  ]);
});

test('a deployment gets its strategy, and its template the defaults of a pod spec alone', () => {
  const deployment = defaulted('apps.v1.Deployment', {
    spec: {
      selector: {},
      template: { spec: { containers: [{ name: 'c', image: 'a:1', resources: { limits: { cpu: '1' } } }] } },
    },
  });
  expect(deployment).toEqual({
    spec: {
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      selector: {},
      template: {
        spec: {
          ...POD_SPEC,
          containers: [
            {
              ...CONTAINER,
              name: 'c',
              image: 'a:1',
              imagePullPolicy: 'IfNotPresent',
              resources: { limits: { cpu: '1' } },
            },
          ],
        },
      },
    },
  });
});

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  [
    'core.v1.Service',
    { spec: { ports: [{ port: 80 }] } },
    {
      spec: {
        type: 'ClusterIP',
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      },
    },
  ],
  [
    'core.v1.Service',
    { spec: { type: 'LoadBalancer', sessionAffinity: 'ClientIP' } },
    {
      spec: {
        type: 'LoadBalancer',
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
        externalTrafficPolicy: 'Cluster',
        internalTrafficPolicy: 'Cluster',
        allocateLoadBalancerNodePorts: true,
      },
    },
  ],
  [
    'apps.v1.DaemonSet',
    { spec: { template: { spec: { containers: [] } } } },
    {
      spec: {
        revisionHistoryLimit: 10,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
        template: { spec: { ...POD_SPEC, containers: [] } },
      },
    },
  ],
  [
    'apps.v1.StatefulSet',
    { spec: { template: { spec: {} }, volumeClaimTemplates: [{ spec: {} }] } },
    {
      spec: {
        replicas: 1,
        revisionHistoryLimit: 10,
        podManagementPolicy: 'OrderedReady',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
        template: { spec: POD_SPEC },
        volumeClaimTemplates: [{ spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } }],
      },
    },
  ],
  [
    'batch.v1.Job',
    { spec: { template: { metadata: { labels: { a: 'b' } }, spec: { restartPolicy: 'Never' } } } },
    {
      metadata: { labels: { a: 'b' } },
      spec: {
        completions: 1,
        parallelism: 1,
        backoffLimit: 6,
        completionMode: 'NonIndexed',
        suspend: false,
        podReplacementPolicy: 'TerminatingOrFailed',
        manualSelector: false,
        template: { metadata: { labels: { a: 'b' } }, spec: { ...POD_SPEC, restartPolicy: 'Never' } },
      },
    },
  ],
  [
    'autoscaling.v2.HorizontalPodAutoscaler',
    { spec: { behavior: { scaleUp: { selectPolicy: 'Min' } } } },
    {
      spec: {
        minReplicas: 1,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
          },
        ],
        behavior: {
          scaleUp: {
            selectPolicy: 'Min',
            stabilizationWindowSeconds: 0,
            policies: [
              { type: 'Pods', value: 4, periodSeconds: 15 },
              { type: 'Percent', value: 100, periodSeconds: 15 },
            ],
          },
          scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
        },
      },
    },
  ],
  [
    'networking.v1.NetworkPolicy',
    { spec: { podSelector: {}, egress: [{ ports: [{ port: 53 }] }] } },
    {
      spec: {
        podSelector: {},
        policyTypes: ['Ingress', 'Egress'],
        egress: [{ ports: [{ port: 53, protocol: 'TCP' }] }],
      },
    },
  ],
  ['networking.v1.NetworkPolicyPort', { port: 53, protocol: '' }, { port: 53, protocol: '' }],
  [
    'rbac.v1.RoleBinding',
    {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    },
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    },
  ],
  [
    'apiextensions.v1.CustomResourceDefinition',
    { spec: { names: { kind: 'Foo', plural: 'foos' }, versions: [{ name: 'v1', storage: true }] } },
    {
      spec: {
        names: { kind: 'Foo', plural: 'foos', singular: 'foo', listKind: 'FooList' },
        conversion: { strategy: 'None' },
        versions: [{ name: 'v1', storage: true }],
      },
      status: { storedVersions: ['v1'] },
    },
  ],
  [
    'core.v1.Namespace',
    { metadata: { name: 'a' } },
    { metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'a' } }, status: { phase: 'Active' } },
  ],
  ['core.v1.Secret', { data: { a: 'b' } }, { data: { a: 'b' }, type: 'Opaque' }],
  ['core.v1.ReplicationController', { spec: {} }, { spec: { replicas: 1 } }],
  ['core.v1.ConfigMap', { data: { a: 'b' } }, { data: { a: 'b' } }],
  ['core.v1.NodeSpec', { podCIDR: 'a', podCIDRs: ['b', 'c'] }, { podCIDR: 'a', podCIDRs: ['a'] }],
  ['core.v1.NodeSpec', { podCIDRs: ['b', 'c'] }, { podCIDR: 'b', podCIDRs: ['b', 'c'] }],
])('%s gets its defaults: %j', (typeId, object, expected) => {
  expect(defaulted(typeId, object)).toEqual(expected);
});
