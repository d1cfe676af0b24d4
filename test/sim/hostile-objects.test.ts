import { expect, test } from 'vitest';
import { ReasonError } from '../../core/base/errors.ts';
import { silentLog } from '../../core/base/log.ts';
import { Registry } from '../../core/base/metrics/index.ts';
import { manualClock } from '../../core/base/manual-clock.ts';
import { seededRandom } from '../../core/base/random.ts';
import type { KubernetesObject } from '../../core/api/meta/index.ts';
import {
  ENDPOINT_SLICE,
  InformerFactory,
  NODE,
  POD,
  SERVICE,
  silentEvents,
  type EndpointSlice,
  type Kind,
  type Node,
  type Service,
  type Stored,
} from '../../core/client/index.ts';
import { FakeApi } from '../../core/client/testing/index.ts';
import { parseSchedule } from '../../core/controllers/cronjob/schedule.ts';
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
import { runControllers } from '../support/hostile-controllers.ts';
import { baseOf, KINDS } from '../support/hostile-kinds.ts';
import { hostile, HOSTILE_TEXTS } from '../support/hostile-objects.ts';

const INPUTS = 10_000;
const SEED = 20_260;
/** The scheduler's pods are spread over so many clusters. */
const ROUNDS = 10;
const PODS_PER_ROUND = INPUTS / ROUNDS;
const NODES_PER_ROUND = 10;
/** Each is worked on by every controller, some of which create what it asks for. */
const OBJECTS_PER_KIND = 36;
const TURNS_MAX = 100_000;

const objectOf = (
  random: ReturnType<typeof seededRandom>,
  index: number,
  base: Record<string, unknown>,
): KubernetesObject => {
  const mutated = hostile(random, base, random.next() < 0.5 ? 0.05 : 0.4) as KubernetesObject;
  const metadata = typeof mutated.metadata === 'object' ? mutated.metadata : {};
  return { ...mutated, metadata: { ...metadata, name: `h-${index}` } };
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
  for (let index = 0; index < INPUTS; index += 1) {
    const service = objectOf(random, index, baseOf(SERVICE)) as Stored<Service>;
    const slice = objectOf(random, index, baseOf(ENDPOINT_SLICE)) as EndpointSlice;
    nodes.set(objectOf(random, index % 50, baseOf(NODE)) as Stored<Node>);
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
    const seeds = Array.from({ length: OBJECTS_PER_KIND }, (_, index): [Kind, KubernetesObject] => [
      kind,
      objectOf(random, index, base),
    ]);
    const { made, errors } = await runControllers(seeds);
    expect(made).toBe(1);
    expect(errors.slice(0, 3)).toEqual([]);
  },
);

test('requests, affinities, tolerations and spread constraints of pods: compiled or refused with a reason', () => {
  const random = seededRandom(SEED + 4);
  const base = baseOf(POD);
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

test('pods and nodes: the scheduler continues and places a good pod', async () => {
  const random = seededRandom(SEED + 3);
  const rounds = ROUNDS;
  for (let round = 0; round < rounds; round += 1) {
    const log = silentLog;
    const api = new FakeApi();
    const client = api.client();
    const { clock } = api;
    const informers = new InformerFactory({ client, clock, random: api.random, log, freeze: true });
    /** What cannot even be stored as an object of this kind needs no scheduler. */
    const seed = (kind: Kind, index: number): void => {
      try {
        api.seed(kind, objectOf(random, index, baseOf(kind)));
      } catch {
        return;
      }
    };
    for (let index = 0; index < NODES_PER_ROUND; index += 1) seed(NODE as Kind, index);
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
