import { expect, test } from 'vitest';
import { readResourceMetrics, type NodeSample, type Point } from './exposition.ts';
import { MetricsStorage } from './storage.ts';

const T0 = 1_767_225_600_000;
const point = (atSeconds: number, cpuCoreSeconds: number, startSeconds = -3600): Point => ({
  startMs: T0 + startSeconds * 1000,
  timestampMs: T0 + atSeconds * 1000,
  cpuCoreSeconds,
  memoryBytes: 1024,
});
const sample = (containers: Readonly<Record<string, Point>>, node?: Point): ReadonlyMap<string, NodeSample> =>
  new Map([['n1', { node, pods: new Map([['default/web', new Map(Object.entries(containers))]]) }]]);

const storage = (...samples: ReadonlyMap<string, NodeSample>[]): MetricsStorage => {
  const made = new MetricsStorage(15_000);
  for (const one of samples) made.store(one);
  return made;
};

test('usage is the CPU time between two samples divided by the window', () => {
  const made = storage(
    sample({ app: point(0, 100) }, point(0, 200)),
    sample({ app: point(15, 107.5) }, point(15, 203)),
  );
  expect([made.pod('default', 'web'), made.node('n1')]).toEqual([
    {
      timestampMs: T0 + 15_000,
      windowMs: 15_000,
      containers: [
        {
          name: 'app',
          usage: {
            cpuNanoCores: 500_000_000,
            memoryBytes: 1024,
            timestampMs: T0 + 15_000,
            windowMs: 15_000,
          },
        },
      ],
    },
    { cpuNanoCores: 200_000_000, memoryBytes: 1024, timestampMs: T0 + 15_000, windowMs: 15_000 },
  ]);
});

test.each([
  ['one sample says nothing yet', storage(sample({ app: point(0, 1) }))],
  [
    'a counter that went back says nothing',
    storage(sample({ app: point(0, 9) }), sample({ app: point(15, 1) })),
  ],
  [
    'a container that restarted between the samples begins again',
    storage(sample({ app: point(0, 1) }), sample({ app: point(15, 2, 9) })),
  ],
  [
    'a pod is complete when all its containers are',
    storage(sample({ app: point(0, 1) }), sample({ app: point(15, 2), late: point(15, 1) })),
  ],
  ['a pod that is gone is forgotten', storage(sample({ app: point(0, 1) }), new Map())],
])('%s', (_what, made) => {
  expect(made.pod('default', 'web')).toBeUndefined();
});

test('a container that started within the window used all its CPU time since then', () => {
  const made = storage(sample({ app: point(15, 6, 3) }));
  expect(made.pod('default', 'web')).toMatchObject({
    windowMs: 12_000,
    containers: [{ usage: { cpuNanoCores: 500_000_000 } }],
  });
});

test('the same sample twice changes nothing', () => {
  const made = storage(
    sample({ app: point(0, 100) }),
    sample({ app: point(15, 107.5) }),
    sample({ app: point(15, 107.5) }),
  );
  expect(made.pod('default', 'web')).toMatchObject({ windowMs: 15_000 });
});

test('the text of a kubelet is read; series that are incomplete or unknown are left out', () => {
  const text = `# HELP node_cpu_usage_seconds_total [STABLE] x
# TYPE node_cpu_usage_seconds_total counter
node_cpu_usage_seconds_total 357.35491 1633253809720
node_memory_working_set_bytes 1.616273408e+09 1633253809720
container_cpu_usage_seconds_total{container="coredns",namespace="kube-system",pod="coredns-1"} 4.710169 1633253812125
container_memory_working_set_bytes{container="coredns",namespace="kube-system",pod="coredns-1"} 1.253376e+07 1633253812125
container_start_time_seconds{container="coredns",namespace="kube-system",pod="coredns-1"} 1.633252712e+09
container_cpu_usage_seconds_total{container="half",namespace="kube-system",pod="coredns-1"} 1 1633253812125
something_else{a="b"} NaN
container_cpu_usage_seconds_total{container="bad
`;
  const { node, pods } = readResourceMetrics(text, T0);
  expect({ node, pods: [...pods].map(([name, containers]) => [name, ...containers]) }).toEqual({
    node: {
      startMs: 0,
      timestampMs: 1_633_253_809_720,
      cpuCoreSeconds: 357.35491,
      memoryBytes: 1_616_273_408,
    },
    pods: [
      [
        'kube-system/coredns-1',
        [
          'coredns',
          {
            startMs: 1_633_252_712_000,
            timestampMs: 1_633_253_812_125,
            cpuCoreSeconds: 4.710169,
            memoryBytes: 12_533_760,
          },
        ],
      ],
    ],
  });
});
