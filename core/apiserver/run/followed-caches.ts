import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Aggregator, type RemoteClient } from '../aggregation/index.ts';
import type { DynamicAdmission } from '../admission/dynamic.ts';
import { APISERVER_USER, startPolicyFeed, type ObjectWriter } from '../bootstrap/index.ts';
import type { DiscoveryCatalog } from '../discovery/catalog.ts';
import type { Extensions } from '../extensions/extensions.ts';
import { createInternalInformer } from '../informer/internal-informer.ts';
import type { ObjectRegistry } from '../registry/create-registry.ts';
import type { Authorization } from './authorization.ts';
import type { FlowControl } from './flow-control.ts';
import type { Surroundings } from './surroundings.ts';

export interface FollowedParts {
  readonly registry: ObjectRegistry;
  readonly authorization: Authorization;
  readonly flowControl: FlowControl;
  readonly dynamic: DynamicAdmission;
  readonly extensions: Extensions;
  readonly remotes: RemoteClient;
  readonly catalog: DiscoveryCatalog;
  readonly writer: ObjectWriter;
  onFailed(error: unknown): void;
}

export interface FollowedCaches extends Disposable {
  readonly aggregator: Aggregator;
}

/** Starts everything that follows objects of this API; readyz waits until all of it has read them once. */
export const followCaches = (
  { health, metrics, clock, log }: Surroundings,
  parts: FollowedParts,
): FollowedCaches => {
  const { registry, authorization, flowControl, dynamic, extensions, remotes, catalog, writer } = parts;
  const owned = new DisposableStore();
  let areFilled = false;
  health.add(
    {
      name: 'informer-sync',
      check() {
        if (!areFilled) throw new Error('caches are not filled yet');
      },
    },
    ['readyz'],
  );
  registry.start();
  const informer = owned.add(createInternalInformer({ registry, user: APISERVER_USER, clock, log }));
  owned.add(flowControl.follow(informer));
  const { policy, graph } = authorization;
  const feed = owned.add(startPolicyFeed({ informer, policy, graph }));
  const aggregator = owned.add(
    new Aggregator({
      informer,
      reader: registry.reader,
      writer,
      catalog,
      client: remotes,
      clock,
      log,
      metrics,
    }),
  );
  const followed = owned.add(dynamic.follow(informer));
  const custom = extensions.follow(informer);
  const filling = [registry.ready(), feed.ready, followed.ready, custom, aggregator.start(custom)];
  Promise.all(filling).then(() => {
    areFilled = true;
    registry.warm();
  }, parts.onFailed);
  return { aggregator, dispose: () => owned.dispose() };
};
