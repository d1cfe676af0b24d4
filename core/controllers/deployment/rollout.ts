import type { Clock } from '../../base/clock.ts';
import type { V1DeploymentStatus } from '../../api/schema/index.ts';
import {
  DEPLOYMENT,
  REPLICA_SET,
  type Client,
  type Deployment,
  type EventRecorder,
  type ReplicaSet,
  type Stored,
} from '../../client/index.ts';
import { hasAnnotations, replicasAnnotations, type Annotations } from './annotations.ts';
import { maxSurgeOf, replicasOf } from './strategy.ts';

/**
 * One look at a deployment. What is written replaces what was read, so that the next write of the same look is not
 * refused as outdated.
 */
export class Rollout {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly clock: Clock;
  deployment: Stored<Deployment>;
  /** The replica set of the present template. */
  newest: Stored<ReplicaSet> | undefined;
  old: Stored<ReplicaSet>[];

  constructor(options: {
    readonly client: Client;
    readonly events: EventRecorder;
    readonly clock: Clock;
    readonly deployment: Stored<Deployment>;
    readonly newest: Stored<ReplicaSet> | undefined;
    readonly old: Stored<ReplicaSet>[];
  }) {
    this.client = options.client;
    this.events = options.events;
    this.clock = options.clock;
    this.deployment = options.deployment;
    this.newest = options.newest;
    this.old = options.old;
  }

  get all(): Stored<ReplicaSet>[] {
    return this.newest ? [...this.old, this.newest] : this.old;
  }

  async writeStatus(status: V1DeploymentStatus, annotations?: Annotations): Promise<void> {
    const { metadata } = this.deployment;
    this.deployment = await this.client.resource(DEPLOYMENT, metadata.namespace).updateStatus({
      ...this.deployment,
      ...(annotations && {
        metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
      }),
      status,
    });
  }

  async updateReplicaSet(replicaSet: Stored<ReplicaSet>): Promise<Stored<ReplicaSet>> {
    const updated = await this.client.resource(REPLICA_SET, replicaSet.metadata.namespace).update(replicaSet);
    const { uid } = updated.metadata;
    if (this.newest?.metadata.uid === uid) this.newest = updated;
    this.old = this.old.map((held) => (held.metadata.uid === uid ? updated : held));
    return updated;
  }

  /** Resizes a replica set; `force` also brings its annotations up to date. Resolves with whether the size changed. */
  async scale(replicaSet: Stored<ReplicaSet>, size: number, force = false): Promise<boolean> {
    const before = replicasOf(replicaSet);
    if (!force && before === size) return false;
    const desired = replicasOf(this.deployment);
    const annotations = replicasAnnotations(desired, desired + maxSurgeOf(this.deployment));
    if (before === size && hasAnnotations(replicaSet, annotations)) return false;
    await this.updateReplicaSet({
      ...replicaSet,
      metadata: {
        ...replicaSet.metadata,
        annotations: { ...replicaSet.metadata.annotations, ...annotations },
      },
      spec: { ...replicaSet.spec!, replicas: size },
    });
    if (before === size) return false;
    const direction = before < size ? 'up' : 'down';
    this.events.event(
      this.deployment,
      'Normal',
      'ScalingReplicaSet',
      `Scaled ${direction} replica set ${replicaSet.metadata.name} from ${before} to ${size}`,
    );
    return true;
  }
}
