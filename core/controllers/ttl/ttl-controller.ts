import { isNotFound } from '../../api/meta/index.ts';
import { NODE } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';

export const TTL_ANNOTATION = 'node.alpha.kubernetes.io/ttl';
const WORKERS = 5;

interface Step {
  readonly nodesMin: number;
  readonly nodesMax: number;
  readonly ttlSeconds: number;
}

/** The steps overlap, so that a cluster at the edge of one does not rewrite all its nodes again and again. */
const STEPS: readonly Step[] = [
  { nodesMin: 0, nodesMax: 100, ttlSeconds: 0 },
  { nodesMin: 90, nodesMax: 500, ttlSeconds: 15 },
  { nodesMin: 450, nodesMax: 1000, ttlSeconds: 30 },
  { nodesMin: 900, nodesMax: 2000, ttlSeconds: 60 },
  { nodesMin: 1800, nodesMax: 10_000, ttlSeconds: 300 },
  { nodesMin: 9000, nodesMax: Infinity, ttlSeconds: 600 },
];

/** The step after a change of the number of nodes, from the step before. */
export const stepAfter = (step: number, nodesCount: number): number => {
  let next = step;
  while (nodesCount > STEPS[next]!.nodesMax) next += 1;
  while (nodesCount < STEPS[next]!.nodesMin) next -= 1;
  return next;
};

/** Tells each kubelet how long it may believe a secret or config map that it has read, by the size of the cluster. */
export const ttlController: ControllerDefinition<ControllerSettings> = {
  name: 'ttl-controller',
  aliases: ['ttl'],
  serviceAccount: 'ttl-controller',
  isOnByDefault: true,
  create(context) {
    const { client, informers } = context;
    const nodes = informers.informer(NODE);
    let step = 0;
    const loop = workLoop(context, {
      name: 'ttlcontroller',
      workers: WORKERS,
      async handle(name) {
        const node = nodes.store.get(name);
        const ttl = String(STEPS[step]!.ttlSeconds);
        if (!node || node.metadata.annotations?.[TTL_ANNOTATION] === ttl) return;
        const body = { metadata: { annotations: { [TTL_ANNOTATION]: ttl } } };
        try {
          await client.resource(NODE).patch(name, { type: 'strategic', body });
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      },
    });
    const count = (): void => {
      const next = stepAfter(step, nodes.store.size);
      if (next === step) return;
      step = next;
      for (const name of nodes.store.keys()) loop.queue.add(name);
    };
    nodes.addHandler({
      added: ({ metadata }) => {
        count();
        loop.queue.add(metadata.name);
      },
      updated: (_, { metadata }) => loop.queue.add(metadata.name),
      deleted: count,
    });
    return loop;
  },
};
