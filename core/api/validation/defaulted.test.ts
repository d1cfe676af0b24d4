import { expect, test } from 'vitest';
import { kindOf } from '../meta/group-version.ts';
import { applyDefaults } from '../schema/defaults/index.ts';
import { structOfKind } from '../schema/models.ts';
import { isDns1123Subdomain } from '../field/formats.ts';
import type { Obj } from './read.ts';
import { texts } from './testing/objects.ts';
import { rulesOf, validateCreate } from './validate.ts';

/** Manifests as people write them: with defaults, and with what the server fills in, they are valid. */

const pod = { containers: [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80 }] }] };
const labels = { app: 'web' };
const template = { metadata: { labels }, spec: pod };
const selector = { matchLabels: labels };
const allocated = {
  clusterIP: '10.0.0.1',
  clusterIPs: ['10.0.0.1'],
  ipFamilies: ['IPv4'],
  ipFamilyPolicy: 'SingleStack',
};
const probed = {
  name: 'web',
  image: 'nginx',
  livenessProbe: { httpGet: { port: 80 } },
  readinessProbe: { tcpSocket: { port: 80 } },
  env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
  volumeMounts: [
    { name: 'config', mountPath: '/config' },
    { name: 'token', mountPath: '/token' },
  ],
};

const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
const hook = {
  name: 'h.example.com',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  clientConfig: { service: { name: 's', namespace: 'n', path: '/check' } },
  rules: [rule],
};

const manifests: readonly (readonly [string, string, Obj])[] = [
  ['v1', 'Pod', { spec: pod }],
  [
    'v1',
    'Pod',
    {
      spec: {
        containers: [probed],
        serviceAccountName: 'default',
        volumes: [
          { name: 'config', configMap: { name: 'c' } },
          { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
          { name: 'host', hostPath: { path: '/var' } },
          { name: 'secret', secret: { secretName: 's' } },
        ],
        tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }],
      },
    },
  ],
  ['apps/v1', 'Deployment', { spec: { selector, template } }],
  ['apps/v1', 'ReplicaSet', { spec: { selector, template } }],
  ['apps/v1', 'DaemonSet', { spec: { selector, template } }],
  [
    'apps/v1',
    'StatefulSet',
    {
      spec: {
        serviceName: 'web',
        selector,
        template,
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
  ],
  [
    'batch/v1',
    'Job',
    { spec: { selector, template: { ...template, spec: { ...pod, restartPolicy: 'Never' } } } },
  ],
  [
    'batch/v1',
    'CronJob',
    {
      spec: {
        schedule: '*/5 * * * *',
        jobTemplate: { spec: { template: { spec: { ...pod, restartPolicy: 'OnFailure' } } } },
      },
    },
  ],
  ['v1', 'Service', { spec: { ...allocated, selector: labels, ports: [{ port: 80 }] } }],
  ['v1', 'Service', { spec: { ...allocated, type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] } }],
  [
    'v1',
    'Service',
    { spec: { ...allocated, type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30_081 }] } },
  ],
  ['v1', 'Service', { spec: { type: 'ExternalName', externalName: 'example.com' } }],
  ['v1', 'ConfigMap', { data: { a: 'b' } }],
  ['v1', 'Secret', { data: { a: 'Yg==' } }],
  [
    'v1',
    'PersistentVolumeClaim',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  ],
  [
    'v1',
    'PersistentVolume',
    { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } } },
  ],
  [
    'v1',
    'LimitRange',
    { spec: { limits: [{ type: 'Container', max: { cpu: '2' }, default: { cpu: '1' } }] } },
  ],
  ['v1', 'ResourceQuota', { spec: { hard: { pods: '10', 'requests.cpu': '4', 'count/jobs.batch': '5' } } }],
  ['v1', 'Namespace', {}],
  ['v1', 'Node', {}],
  ['v1', 'Endpoints', { subsets: [{ addresses: [{ ip: '10.1.0.1' }], ports: [{ port: 80 }] }] }],
  [
    'discovery.k8s.io/v1',
    'EndpointSlice',
    { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.0.1'] }], ports: [{ port: 80 }] },
  ],
  [
    'networking.k8s.io/v1',
    'Ingress',
    {
      spec: {
        rules: [
          {
            http: {
              paths: [
                {
                  path: '/',
                  pathType: 'Prefix',
                  backend: { service: { name: 'web', port: { number: 80 } } },
                },
              ],
            },
          },
        ],
      },
    },
  ],
  [
    'networking.k8s.io/v1',
    'NetworkPolicy',
    { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
  ],
  ['policy/v1', 'PodDisruptionBudget', { spec: { minAvailable: 1, selector } }],
  [
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    {
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 3,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
          },
        ],
        behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
      },
    },
  ],
  [
    'rbac.authorization.k8s.io/v1',
    'RoleBinding',
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    },
  ],
  ['storage.k8s.io/v1', 'StorageClass', { provisioner: 'example.com/disk' }],
  ['scheduling.k8s.io/v1', 'PriorityClass', { value: 10 }],
  ['node.k8s.io/v1', 'RuntimeClass', { handler: 'runc' }],
  ['coordination.k8s.io/v1', 'Lease', { spec: { holderIdentity: 'a', leaseDurationSeconds: 15 } }],
  ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', { webhooks: [hook] }],
  ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', { webhooks: [hook] }],
  [
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicy',
    {
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: 'object.spec.replicas <= 5' }],
      },
    },
  ],
  [
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicyBinding',
    { spec: { policyName: 'p', validationActions: ['Deny'], matchResources: {} } },
  ],
  [
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    },
  ],
  [
    'apiregistration.k8s.io/v1',
    'APIService',
    {
      metadata: { name: 'v1.example.com' },
      spec: {
        group: 'example.com',
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { name: 's', namespace: 'n' },
      },
    },
  ],
  ['storage.k8s.io/v1', 'CSIDriver', {}],
  ['storage.k8s.io/v1', 'CSINode', { spec: { drivers: [] } }],
  [
    'storage.k8s.io/v1',
    'VolumeAttachment',
    { spec: { attacher: 'a.example.com', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
  ],
  ['networking.k8s.io/v1', 'ServiceCIDR', { spec: { cidrs: ['10.96.0.0/16'] } }],
  [
    'flowcontrol.apiserver.k8s.io/v1',
    'FlowSchema',
    {
      spec: {
        priorityLevelConfiguration: { name: 'global-default' },
        rules: [
          {
            subjects: [{ kind: 'Group', group: { name: 'g' } }],
            resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
          },
        ],
      },
    },
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1',
    'PriorityLevelConfiguration',
    { spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } } },
  ],
  [
    'resource.k8s.io/v1',
    'ResourceClaim',
    { spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }] } } },
  ],
  ['resource.k8s.io/v1', 'DeviceClass', { spec: {} }],
];

test.each(manifests)('%s %s %# is valid with its defaults', (apiVersion, kind, body) => {
  const gvk = kindOf({ apiVersion, kind });
  if (gvk === undefined) throw new Error(apiVersion);
  const namespaced = rulesOf(gvk)?.namespaced === true;
  const object: Record<string, unknown> = {
    apiVersion,
    kind,
    metadata: { name: 'web', ...(namespaced && { namespace: 'default' }) },
    ...structuredClone(body),
  };
  const struct = structOfKind(gvk);
  if (struct === undefined) throw new Error(`no type ${kind}`);
  applyDefaults(struct, object, { minor: 36, now: '2026-01-01T00:00:00Z' });
  const fallback = { namespaced, name: isDns1123Subdomain };
  expect(texts(validateCreate(gvk, object, fallback))).toEqual([]);
});
