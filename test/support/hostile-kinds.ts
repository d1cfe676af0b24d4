import type { Kind } from '../../core/client/index.ts';
import {
  CRON_JOB,
  DAEMON_SET,
  DEPLOYMENT,
  ENDPOINT_SLICE,
  JOB,
  NODE,
  PERSISTENT_VOLUME,
  PERSISTENT_VOLUME_CLAIM,
  POD,
  POD_DISRUPTION_BUDGET,
  REPLICA_SET,
  RESOURCE_QUOTA,
  SERVICE,
  STATEFUL_SET,
} from '../../core/client/index.ts';

export const LABELS = { app: 'x', 'topology.kubernetes.io/zone': 'a' };
const selector = {
  matchLabels: { app: 'x' },
  matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'y'] }],
};
const podSpec = {
  nodeName: '',
  nodeSelector: { disk: 'ssd' },
  restartPolicy: 'Never',
  priority: 0,
  containers: [
    {
      name: 'c',
      image: 'i',
      resources: { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '1', memory: '2Gi' } },
      ports: [{ containerPort: 80, hostPort: 8080, hostIP: '127.0.0.1', protocol: 'TCP' }],
    },
  ],
  tolerations: [{ key: 'k', operator: 'Exists', value: 'v', effect: 'NoExecute', tolerationSeconds: 5 }],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: selector,
    },
  ],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'Gt', values: ['1'] }] }],
      },
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: selector, topologyKey: 'kubernetes.io/hostname', namespaces: ['default'] },
      ],
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { labelSelector: selector, topologyKey: 'zone' } },
      ],
    },
  },
  volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'pvc' } }],
};
const template = { metadata: { labels: LABELS }, spec: podSpec };
const annotations = {
  'deployment.kubernetes.io/revision': '1',
  'batch.kubernetes.io/job-completion-index': '0',
};
const jobSpec = {
  parallelism: 1,
  completions: 1,
  backoffLimit: 1,
  activeDeadlineSeconds: 10,
  ttlSecondsAfterFinished: 1,
  completionMode: 'Indexed',
  suspend: false,
  podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [1] } }] },
  successPolicy: { rules: [{ succeededIndexes: '0-1,3', succeededCount: 1 }] },
  template,
};

/** An object of each kind that controllers, scheduler and proxy interpret, with every field that they read. */
export const KINDS: readonly [Kind, Record<string, unknown>][] = [
  [
    DEPLOYMENT as Kind,
    {
      spec: {
        replicas: 1,
        selector,
        template,
        minReadySeconds: 1,
        progressDeadlineSeconds: 5,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      },
    },
  ],
  [REPLICA_SET as Kind, { spec: { replicas: 1, selector, template } }],
  [
    STATEFUL_SET as Kind,
    {
      spec: {
        replicas: 1,
        selector,
        template,
        serviceName: 's',
        podManagementPolicy: 'Parallel',
        ordinals: { start: 0 },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0, maxUnavailable: '10%' } },
      },
    },
  ],
  [
    DAEMON_SET as Kind,
    {
      spec: {
        selector,
        template,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: '10%' } },
      },
    },
  ],
  [JOB as Kind, { spec: { ...jobSpec, selector } }],
  [
    CRON_JOB as Kind,
    {
      spec: {
        schedule: '* * * * *',
        timeZone: 'UTC',
        startingDeadlineSeconds: 10,
        concurrencyPolicy: 'Allow',
        successfulJobsHistoryLimit: 1,
        jobTemplate: { spec: jobSpec },
      },
      status: { lastScheduleTime: '2026-01-01T00:00:00Z' },
    },
  ],
  [
    POD_DISRUPTION_BUDGET as Kind,
    {
      spec: { minAvailable: '50%', maxUnavailable: 1, selector, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      status: { disruptedPods: { p: '2026-01-01T00:00:00Z' } },
    },
  ],
  [
    SERVICE as Kind,
    {
      spec: {
        clusterIP: '127.20.64.5',
        selector: { app: 'x' },
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } },
        ports: [{ name: 'p', port: 80, nodePort: 30_080, targetPort: 'http', protocol: 'TCP' }],
        externalIPs: ['127.20.8.1'],
        loadBalancerSourceRanges: ['10.0.0.0/8'],
      },
    },
  ],
  [
    POD as Kind,
    {
      metadata: { labels: LABELS, annotations },
      spec: podSpec,
      status: {
        phase: 'Running',
        podIP: '127.21.0.1',
        podIPs: [{ ip: '127.21.0.1' }],
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
        containerStatuses: [
          { name: 'c', state: { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:00:00Z' } } },
        ],
      },
    },
  ],
  [
    NODE as Kind,
    {
      metadata: { labels: LABELS },
      spec: {
        podCIDR: '127.21.1.0/24',
        podCIDRs: ['127.21.1.0/24'],
        taints: [{ key: 'k', value: 'v', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }],
        unschedulable: false,
      },
      status: {
        allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
        addresses: [{ type: 'InternalIP', address: '127.20.16.1' }],
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            lastHeartbeatTime: '2026-01-01T00:00:00Z',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    },
  ],
  [
    ENDPOINT_SLICE as Kind,
    {
      metadata: { labels: { 'kubernetes.io/service-name': 'good' } },
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['127.21.0.1'],
          conditions: { ready: true },
          nodeName: 'n',
          hints: { forZones: [{ name: 'a' }] },
        },
      ],
      ports: [{ name: 'p', port: 80, protocol: 'TCP' }],
    },
  ],
  [
    PERSISTENT_VOLUME as Kind,
    {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'std',
        claimRef: { name: 'pvc', namespace: 'default' },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] }],
          },
        },
      },
    },
  ],
  [
    PERSISTENT_VOLUME_CLAIM as Kind,
    {
      spec: {
        resources: { requests: { storage: '1Gi' } },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'std',
        selector,
      },
    },
  ],
  [
    RESOURCE_QUOTA as Kind,
    {
      spec: {
        hard: { pods: '10', 'requests.cpu': '1', 'count/jobs.batch': '5' },
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['x'] }] },
      },
    },
  ],
];

export const baseOf = (kind: unknown): Record<string, unknown> => KINDS.find(([one]) => one === kind)![1];
