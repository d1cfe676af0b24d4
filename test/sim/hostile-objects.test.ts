import { expect, test } from 'vitest';
import { ReasonError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { silentLog } from '../../core/base/log.ts';
import { Registry } from '../../core/base/metrics/index.ts';
import { manualClock } from '../../core/base/manual-clock.ts';
import { seededRandom } from '../../core/base/random.ts';
import type { KubernetesObject } from '../../core/api/meta/index.ts';
import {
  CRON_JOB,
  DAEMON_SET,
  DEPLOYMENT,
  ENDPOINT_SLICE,
  InformerFactory,
  JOB,
  NODE,
  PERSISTENT_VOLUME,
  PERSISTENT_VOLUME_CLAIM,
  POD,
  POD_DISRUPTION_BUDGET,
  REPLICA_SET,
  RESOURCE_QUOTA,
  SERVICE,
  silentEvents,
  STATEFUL_SET,
  type EndpointSlice,
  type Kind,
  type Node,
  type Service,
  type Stored,
} from '../../core/client/index.ts';
import { FakeApi } from '../../core/client/testing/index.ts';
import { CLUSTER_CONTROLLERS } from '../../core/controllers/cluster-loops.ts';
import { DEFAULT_SETTINGS } from '../../core/controllers/config/config.ts';
import { parseSchedule } from '../../core/controllers/cronjob/schedule.ts';
import { WORKLOAD_CONTROLLERS } from '../../core/controllers/workloads/index.ts';
import { bindingsOf } from '../../core/proxy/model/bindings.ts';
import { judgeBindings, NO_CLAIMS, refusalText } from '../../core/proxy/model/claims.ts';
import { endpointsOf } from '../../core/proxy/model/endpoints.ts';
import { NodeTable } from '../../core/proxy/model/node-table.ts';
import { PortTargets } from '../../core/proxy/model/port-targets.ts';
import { servicePortsOf } from '../../core/proxy/model/service-port.ts';
import { DEFAULT_CONFIGURATION } from '../../core/scheduler/config/configuration.ts';
import type { Pod as SchedulerPod, Taint } from '../../core/scheduler/model/objects.ts';
import { podInfoOf } from '../../core/scheduler/model/pod-info.ts';
import { isTolerated } from '../../core/scheduler/model/tolerations.ts';
import { createScheduler } from '../../core/scheduler/loop/scheduler.ts';
import { hostile, HOSTILE_TEXTS } from '../support/hostile-objects.ts';

const INPUTS = 10_000;
const SEED = 20_260;
/** The scheduler's pods are spread over so many clusters. */
const ROUNDS = 3;
const PODS_PER_ROUND = 300;
/** Each is worked on by every controller, some of which create what it asks for. */
const OBJECTS_PER_KIND = 36;
const TURNS_MAX = 100_000;

const labels = { app: 'x', 'topology.kubernetes.io/zone': 'a' };
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
const template = { metadata: { labels }, spec: podSpec };
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

const KINDS: readonly [Kind, Record<string, unknown>][] = [
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
      metadata: { labels, annotations },
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
      metadata: { labels },
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

const objectOf = (
  random: ReturnType<typeof seededRandom>,
  index: number,
  base: Record<string, unknown>,
): KubernetesObject => {
  const mutated = hostile(random, base, random.next() < 0.5 ? 0.05 : 0.4) as KubernetesObject;
  const metadata = typeof mutated.metadata === 'object' ? mutated.metadata : {};
  return { ...mutated, metadata: { ...metadata, name: `h-${index}` } };
};

/** What cannot even be stored as an object of this kind needs no controller. */
const trySeed = (api: FakeApi, kind: Kind, object: KubernetesObject): void => {
  try {
    api.seed(kind, object);
  } catch {
    return;
  }
};

const GOOD_DEPLOYMENT = {
  metadata: { name: 'good' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { good: 'yes' } },
    template: { metadata: { labels: { good: 'yes' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
} as KubernetesObject;

/** What a log should never say: that something threw where nobody expects it. */
const errorsIn = (): { readonly log: Log; readonly errors: string[] } => {
  const errors: string[] = [];
  return {
    errors,
    log: {
      ...silentLog,
      write: (level, message, fields) => {
        if (level === 'error') errors.push(`${message}: ${JSON.stringify(fields)}`);
      },
    },
  };
};

test('cron lines and time zones: parsed or refused, and the next time is later', () => {
  const random = seededRandom(SEED);
  const text = (): string => HOSTILE_TEXTS[random.below(HOSTILE_TEXTS.length)]!;
  const field = (): string =>
    ['*', '*/5', '0', '59', '1-5', '1,2', '7', '?', 'L', '-1', text()][random.below(11)]!;
  const nowMs = Date.UTC(2026, 2, 29, 0, 59);
  for (let index = 0; index < INPUTS; index += 1) {
    const line = random.next() < 0.3 ? text() : Array.from({ length: 5 }, field).join(' ');
    const parsed = parseSchedule(line, random.next() < 0.5 ? 'Europe/Berlin' : text());
    const next = 'schedule' in parsed ? parsed.schedule.next(nowMs) : undefined;
    if (next !== undefined && !(next > nowMs)) throw new Error(`${JSON.stringify(line)} comes at ${next}`);
  }
});

test('services, slices and nodes: the proxy finds something to do or leaves it, and never throws', () => {
  const random = seededRandom(SEED + 1);
  const [clock, nodes] = [manualClock(), new NodeTable()];
  const baseOf = (kind: Kind): Record<string, unknown> => KINDS.find(([one]) => one === kind)![1];
  for (let index = 0; index < INPUTS; index += 1) {
    const service = objectOf(random, index, baseOf(SERVICE as Kind)) as Stored<Service>;
    const slice = objectOf(random, index, baseOf(ENDPOINT_SLICE as Kind)) as EndpointSlice;
    nodes.set(objectOf(random, index % 50, baseOf(NODE as Kind)) as Stored<Node>);
    for (const port of servicePortsOf(service)) {
      const targets = new PortTargets(port, { nodes, clock, random });
      targets.update(port, endpointsOf([slice], port));
      const context = { ranges: NO_CLAIMS, nodes, nodeNames: ['h-1'], holderOf: () => undefined };
      const { allowed, refused } = judgeBindings(bindingsOf(port, nodes, ['h-1']), context);
      refused.map(refusalText);
      for (const binding of allowed) targets.pick(binding, '127.0.0.1', new Set());
    }
  }
});

test.each(KINDS.map(([kind, base]) => [kind.kind, kind, base] as const))(
  'hostile objects of kind %s: no controller stops, and a good object beside them is still worked on',
  async (_, kind, base) => {
    const random = seededRandom(SEED + 2);
    const { log, errors } = errorsIn();
    const api = new FakeApi();
    const client = api.client();
    const { clock } = api;
    const informers = new InformerFactory({ client, clock, random: api.random, log, freeze: true });
    const shared = { client, informers, events: silentEvents, clock, random: api.random, log };
    const stop = new AbortController();
    const controllers = [...WORKLOAD_CONTROLLERS, ...CLUSTER_CONTROLLERS].map((definition) =>
      definition.create({ ...shared, registry: new Registry() }, DEFAULT_SETTINGS),
    );
    for (let index = 0; index < OBJECTS_PER_KIND; index += 1)
      trySeed(api, kind, objectOf(random, index, base));
    informers.start();
    await informers.whenSynced();
    const running = controllers.map((controller) => controller?.run(stop.signal));
    api.seed(DEPLOYMENT as Kind, GOOD_DEPLOYMENT);
    await api.settle({ turnsMax: TURNS_MAX });
    clock.advance(1_000);
    await api.settle({ turnsMax: TURNS_MAX });
    const made = api.list(POD as Kind).filter(({ metadata }) => metadata.labels?.['good'] === 'yes');
    stop.abort();
    await Promise.all(running);
    await informers.stop();
    expect(made.length).toBe(1);
    expect(errors.filter((text) => text.includes('handler of an informer threw')).slice(0, 3)).toEqual([]);
  },
);

test('requests, affinities, tolerations and spread constraints of pods: compiled or refused with a reason', () => {
  const random = seededRandom(SEED + 4);
  const base = KINDS.find(([kind]) => kind === (POD as Kind))![1];
  for (let index = 0; index < INPUTS; index += 1) {
    const pod = objectOf(random, index, base) as unknown as SchedulerPod;
    try {
      podInfoOf(pod);
    } catch (error) {
      // A quantity or a selector that says nothing; anything else would be a defect.
      if (!(error instanceof ReasonError)) throw error;
    }
    const taint = { key: 'k', value: 'v', effect: 'NoExecute' };
    isTolerated(pod.spec.tolerations, taint as Taint);
  }
});

test('pods and nodes: the scheduler goes on and places a good pod', async () => {
  const random = seededRandom(SEED + 3);
  const rounds = ROUNDS;
  const baseOf = (kind: Kind): Record<string, unknown> => KINDS.find(([one]) => one === kind)![1];
  for (let round = 0; round < rounds; round += 1) {
    const log = silentLog;
    const api = new FakeApi();
    const client = api.client();
    const { clock } = api;
    const informers = new InformerFactory({ client, clock, random: api.random, log, freeze: true });
    const seed = (kind: Kind, index: number): void =>
      trySeed(api, kind, objectOf(random, index, baseOf(kind)));
    for (let index = 0; index < PODS_PER_ROUND / 10; index += 1) seed(NODE as Kind, index);
    for (let index = 0; index < PODS_PER_ROUND; index += 1) seed(POD as Kind, index);
    const scheduler = createScheduler({
      client,
      informers,
      events: silentEvents,
      clock,
      random: api.random,
      log,
      config: DEFAULT_CONFIGURATION,
      registry: new Registry(),
    });
    const stop = new AbortController();
    const running = scheduler.run(stop.signal);
    informers.start();
    await api.settle({ turnsMax: TURNS_MAX });
    api.seed(
      NODE as Kind,
      {
        metadata: { name: 'good', labels: { good: 'yes' } },
        status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110' } },
      } as KubernetesObject,
    );
    api.seed(
      POD as Kind,
      {
        metadata: { name: 'good' },
        spec: {
          schedulerName: 'default-scheduler',
          nodeSelector: { good: 'yes' },
          containers: [{ name: 'c', image: 'i' }],
        },
      } as KubernetesObject,
    );
    await api.settle({ turnsMax: TURNS_MAX });
    clock.advance(1_000);
    await api.settle({ turnsMax: TURNS_MAX });
    const { nodeName } = (api.get(POD as Kind, 'good') as { spec?: { nodeName?: string } }).spec ?? {};
    stop.abort();
    await running;
    await informers.stop();
    expect([round, nodeName]).toEqual([round, 'good']);
  }
});
