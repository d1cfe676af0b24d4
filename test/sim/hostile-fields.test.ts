import { expect, test } from 'vitest';
import { seededRandom, type Random } from '../../core/base/random.ts';
import type { KubernetesObject } from '../../core/api/meta/index.ts';
import {
  formatLabelSelector,
  selectorFromObject,
  type LabelSelectorObject,
} from '../../core/api/selector/index.ts';
import { convertObject, printerOf } from '../../core/api/scheme/index.ts';
import { validateCreate } from '../../core/api/validation/validate.ts';
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
  type Kind,
} from '../../core/client/index.ts';
import { runControllers } from '../support/hostile-controllers.ts';
import { baseOf, LABELS } from '../support/hostile-kinds.ts';
import { HOSTILE_TEXTS } from '../support/hostile-objects.ts';

/** Of each class of fields, and each in an object that every controller gets to see. */
const INPUTS = 10_000;
const OBJECTS_PER_CLUSTER = 500;
/** What selects everything looks at every pod of its namespace. */
const NAMESPACES = 25;
const SEED = 31_337;

const one = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)]!;
/** One text, or several that no test of one would hit together. */
const text = (random: Random): string =>
  Array.from({ length: 1 + random.below(2) }, () => one(random, HOSTILE_TEXTS)).join('');
const NAMES = ['app', 'x', 'a/b', 'a//b', '-', 'x'.repeat(64), ...HOSTILE_TEXTS];
const map = (random: Random): Record<string, string> =>
  Object.fromEntries(Array.from({ length: 1 + random.below(2) }, () => [one(random, NAMES), text(random)]));

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', '', 'in', 'constructor', '__proto__'];
/** Many of these no API server would let in: they come with a restore, or from a release that checked less. */
const anySelector = (random: Random): LabelSelectorObject => ({
  ...(random.below(3) > 0 && { matchLabels: map(random) }),
  ...(random.below(3) > 0 && {
    matchExpressions: Array.from({ length: 1 + random.below(2) }, () => ({
      key: one(random, NAMES),
      operator: one(random, OPERATORS),
      ...(random.below(3) > 0 && { values: [text(random), 'x'].slice(0, random.below(3)) }),
    })),
  }),
});

/** A selector that its own template does not match makes a workload create pods without end, here as upstream. */
const isRunaway = (made: LabelSelectorObject): boolean =>
  formatLabelSelector(made) !== '<error>' && !selectorFromObject(made).matches(LABELS);
const selector = (random: Random): LabelSelectorObject => {
  for (;;) {
    const made = anySelector(random);
    if (!isRunaway(made)) return made;
  }
};

type Fields = Record<string, unknown>;
type Make = (random: Random) => readonly [unknown, Fields];
const spec = (kind: unknown): Fields => baseOf(kind)['spec'] as Fields;
const withSpec = (kind: unknown, change: Fields): readonly [unknown, Fields] => [
  kind,
  { ...baseOf(kind), spec: { ...spec(kind), ...change } },
];
const withTemplate = (kind: unknown, change: Fields): readonly [unknown, Fields] => {
  const template = spec(kind)['template'] as { metadata: Fields; spec: Fields };
  return withSpec(kind, { template: { ...template, spec: { ...template.spec, ...change } } });
};
const annotated = (kind: unknown, names: readonly string[], random: Random): readonly [unknown, Fields] => {
  const base = baseOf(kind);
  const annotations = Object.fromEntries(
    names.filter(() => random.below(2) === 0).map((name) => [name, text(random)]),
  );
  const metadata = (base['metadata'] ?? {}) as Fields;
  // No pods: they are what costs time, and carry none of these annotations.
  const counts = { replicas: 0, parallelism: 0 };
  return [
    kind,
    {
      ...base,
      metadata: { ...metadata, annotations: { ...annotations, [text(random)]: text(random) } },
      spec: { ...spec(kind), ...counts },
    },
  ];
};
const amounts = (random: Random, ...names: readonly string[]): Record<string, string> =>
  Object.fromEntries([...names, text(random)].map((name) => [name, text(random)]));

const CLASSES: Readonly<Record<string, readonly Make[]>> = {
  selectors: [
    ...[
      DEPLOYMENT,
      REPLICA_SET,
      STATEFUL_SET,
      DAEMON_SET,
      JOB,
      POD_DISRUPTION_BUDGET,
      PERSISTENT_VOLUME_CLAIM,
    ].map(
      (kind): Make =>
        (random) =>
          withSpec(kind, { selector: selector(random) }),
    ),
    (random) => withSpec(SERVICE, { selector: map(random) }),
    (random) => [POD, { ...baseOf(POD), metadata: { labels: map(random) } }],
    (random) => withTemplate(DAEMON_SET, { nodeSelector: map(random) }),
  ],
  'cron lines': [
    (random) =>
      withSpec(CRON_JOB, {
        schedule: Array.from({ length: 5 }, () => one(random, ['*', '*/5', '0', '1-5', text(random)])).join(
          ' ',
        ),
        ...(random.below(2) === 0 && { timeZone: text(random) }),
      }),
    (random) => withSpec(CRON_JOB, { schedule: text(random), startingDeadlineSeconds: 1 }),
    (random) => [CRON_JOB, { ...baseOf(CRON_JOB), status: { lastScheduleTime: text(random) } }],
  ],
  quantities: [
    (random) =>
      withSpec(RESOURCE_QUOTA, { hard: amounts(random, 'pods', 'requests.cpu', 'count/jobs.batch') }),
    (random) => withSpec(PERSISTENT_VOLUME, { capacity: amounts(random, 'storage') }),
    (random) => withSpec(PERSISTENT_VOLUME_CLAIM, { resources: { requests: amounts(random, 'storage') } }),
    (random) => [
      NODE,
      { ...baseOf(NODE), status: { allocatable: amounts(random, 'cpu', 'memory', 'pods') } },
    ],
    (random) => {
      const resources = { requests: amounts(random, 'cpu', 'memory'), limits: amounts(random, 'cpu') };
      return withTemplate(one(random, [DAEMON_SET, JOB]), {
        containers: [{ name: 'c', image: 'i', resources }],
      });
    },
    (random) => withSpec(POD_DISRUPTION_BUDGET, { minAvailable: text(random), maxUnavailable: text(random) }),
    (random) =>
      withSpec(DEPLOYMENT, {
        strategy: {
          type: 'RollingUpdate',
          rollingUpdate: { maxSurge: text(random), maxUnavailable: text(random) },
        },
      }),
  ],
  annotations: [
    (random) =>
      annotated(
        DEPLOYMENT,
        ['revision', 'desired-replicas', 'max-replicas'].map((name) => `deployment.kubernetes.io/${name}`),
        random,
      ),
    (random) =>
      annotated(
        REPLICA_SET,
        ['revision', 'revision-history'].map((name) => `deployment.kubernetes.io/${name}`),
        random,
      ),
    (random) =>
      annotated(
        POD,
        ['controller.kubernetes.io/pod-deletion-cost', 'batch.kubernetes.io/job-completion-index'],
        random,
      ),
    (random) => annotated(JOB, ['batch.kubernetes.io/cronjob-scheduled-timestamp'], random),
    (random) => annotated(SERVICE, ['endpoints.kubernetes.io/last-change-trigger-time'], random),
    (random) => annotated(NODE, ['node.alpha.kubernetes.io/ttl', 'volumes.kubernetes.io/x'], random),
    (random) =>
      annotated(
        PERSISTENT_VOLUME_CLAIM,
        [
          'pv.kubernetes.io/bind-completed',
          'volume.kubernetes.io/selected-node',
          'volume.beta.kubernetes.io/storage-class',
        ],
        random,
      ),
    (random) => annotated(PERSISTENT_VOLUME, ['pv.kubernetes.io/bound-by-controller'], random),
    (random) => annotated(DAEMON_SET, ['deprecated.daemonset.template.generation'], random),
  ],
  'host names': [
    (random) => withSpec(POD, { hostname: text(random), subdomain: text(random), nodeName: text(random) }),
    (random) =>
      withSpec(SERVICE, { type: 'ExternalName', externalName: text(random), externalIPs: [text(random)] }),
    (random) => [
      ENDPOINT_SLICE,
      {
        ...baseOf(ENDPOINT_SLICE),
        endpoints: [
          { addresses: [text(random)], hostname: text(random), nodeName: text(random), zone: text(random) },
        ],
      },
    ],
    (random) => [
      NODE,
      {
        ...baseOf(NODE),
        metadata: {
          labels: { 'kubernetes.io/hostname': text(random), 'topology.kubernetes.io/zone': text(random) },
        },
        status: {
          addresses: [{ type: one(random, ['Hostname', 'InternalIP', text(random)]), address: text(random) }],
        },
      },
    ],
    (random) => withSpec(STATEFUL_SET, { serviceName: text(random) }),
  ],
};

test.each(Object.entries(CLASSES))(
  `${INPUTS} hostile %s: no controller stops or throws where it listens, and a good object is worked on`,
  async (_, makers) => {
    const random = seededRandom(SEED);
    let inputs = 0;
    const seedOf = (): [Kind, KubernetesObject] => {
      const [kind, object] = makers[inputs % makers.length]!(random);
      inputs += 1;
      const { namespaced } = kind as Kind;
      const metadata = {
        ...(object['metadata'] as Fields | undefined),
        name: `h-${inputs}`,
        ...(namespaced && { namespace: `n-${random.below(NAMESPACES)}` }),
      };
      return [kind as Kind, { ...object, metadata } as KubernetesObject];
    };
    let stored = 0;
    while (stored < INPUTS) {
      const seeds = Array.from({ length: OBJECTS_PER_CLUSTER }, seedOf);
      const outcome = await runControllers(seeds);
      expect({ inputs, ...outcome, errors: outcome.errors.slice(0, 3) }).toMatchObject({
        made: 1,
        errors: [],
      });
      stored += outcome.stored;
    }
  },
);

const JSON_TEXTS = [
  ...['[]', '{}', 'null', '5', '"x"', '[null]', '[5]', '["x"]', '[[]]', '[{}]', '{"a":', '[{"type":5}]'],
  ...[
    '[{"type":"Resource"}]',
    '[{"type":"Resource","resource":5}]',
    '[{"type":"Pods","pods":{"selector":7}}]',
  ],
  ...[
    '[{"type":"Object","object":{"target":[],"metricName":{}}}]',
    '[{"type":"__proto__"}]',
    '[{"type":"External"}]',
  ],
  ...[
    '{"scaleUp":5}',
    '{"scaleUp":{"policies":7}}',
    '{"scaleDown":{"policies":[null,{"type":1}]}}',
    '[{"status":{}}]',
  ],
  ...[
    '[{"type":"Resource","resource":{"name":"cpu","targetAverageValue":"x","targetAverageUtilization":"y"}}]',
  ],
];
const CARRIERS = ['metrics', 'current-metrics', 'conditions', 'behavior'].map(
  (name) => `autoscaling.alpha.kubernetes.io/${name}`,
);
const V1 = { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' };
const V2 = { ...V1, version: 'v2' };

test(`${INPUTS} HorizontalPodAutoscalers whose annotations carry anything: converted, printed and validated`, () => {
  const random = seededRandom(SEED);
  const printer = printerOf(V1);
  for (let index = 0; index < INPUTS; index += 1) {
    const carried = CARRIERS.filter(() => random.below(2) === 0).map((name) => [
      name,
      random.below(4) === 0 ? text(random) : one(random, JSON_TEXTS),
    ]);
    const object = {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: {
        name: 'h',
        namespace: 'default',
        annotations: Object.fromEntries(carried) as Record<string, string>,
      },
      spec: { maxReplicas: 2, scaleTargetRef: { kind: text(random), name: text(random) } },
      status: { currentReplicas: 1, desiredReplicas: 1 },
    } as KubernetesObject;
    const stored = convertObject(object, V1, V2);
    printer.cells(stored, 0);
    convertObject(stored, V2, V1);
    validateCreate(V2, stored, { namespaced: true, name: () => [] });
  }
});
