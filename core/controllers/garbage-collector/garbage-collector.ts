import { manyListen } from '../../base/node/lasting-signal.ts';
import { apiVersionOf } from '../../api/meta/index.ts';
import { exponentialLimiter, pause } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { repeat, workLoop } from '../runtime/work-loop.ts';
import { collect, orphan, type Collection } from './collect.ts';
import { LiveObjects } from './live-objects.ts';
import { Monitors } from './monitors.ts';
import { OwnerGraph } from './owner-graph.ts';

const DISCOVERY_PERIOD_MS = 30_000;
/** A resource whose list does not come must not stop the collection of all others. */
const INITIAL_SYNC_MAX_MS = 30_000;

/** Deletes what belongs to owners that are gone, and holds owners that wait for what belongs to them. */
export const garbageCollector: ControllerDefinition<ControllerSettings> = {
  name: 'garbage-collector-controller',
  aliases: ['garbagecollector'],
  serviceAccount: 'generic-garbage-collector',
  isOnByDefault: true,
  create(context, settings) {
    const { client, clock, events } = context;
    const workers = settings['concurrent-gc-syncs'];
    const graph = new OwnerGraph({
      attemptToDelete: (uid) => deleting.queue.add(uid),
      attemptToOrphan: (uid) => orphaning.queue.add(uid),
      misplaced({ kind, name, namespace, uid }, owner) {
        const where = `namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}`;
        events.event(
          { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name, namespace, uid } },
          'Warning',
          'OwnerRefInvalidNamespace',
          `ownerRef [${owner.apiVersion}/${owner.kind}, ${where}] does not exist in namespace "${namespace}"`,
        );
      },
    });
    const collection: Collection = {
      graph,
      live: new LiveObjects(client, clock),
      attemptToDelete: (uid) => deleting.queue.add(uid),
    };
    const deleting = workLoop(context, {
      name: 'garbage_collector_attempt_to_delete',
      workers,
      rateLimiter: exponentialLimiter(),
      handle: (uid) => collect(collection, uid),
    });
    const orphaning = workLoop(context, {
      name: 'garbage_collector_attempt_to_orphan',
      workers,
      rateLimiter: exponentialLimiter(),
      handle: (uid) => orphan(collection, uid),
    });
    return {
      async run(stop) {
        const signal = manyListen(stop);
        const monitors = new Monitors(context, {
          observed: (kind, object) => graph.observe(kind, object),
          gone: (_, object) => graph.forget(object.metadata.uid),
        });
        try {
          await monitors.follow(signal);
          const limit = new AbortController();
          await Promise.race([
            monitors.whenSynced(signal),
            pause(clock, INITIAL_SYNC_MAX_MS, AbortSignal.any([signal, limit.signal])),
          ]).catch(() => undefined);
          limit.abort();
          await Promise.all([
            deleting.run(signal),
            orphaning.run(signal),
            repeat(context, DISCOVERY_PERIOD_MS, signal, () => monitors.follow(signal)),
          ]);
        } finally {
          await monitors.stop();
        }
      },
    };
  },
};
