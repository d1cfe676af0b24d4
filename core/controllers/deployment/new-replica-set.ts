import { messageOf } from '../../base/errors.ts';
import { isAlreadyExists } from '../../api/meta/status.ts';
import type { LabelSelector, OwnerReference } from '../../api/meta/object-meta.ts';
import {
  canonicalJson,
  controllerReference,
  DEPLOYMENT,
  isControlledBy,
  REPLICA_SET,
  templateHash,
  type Deployment,
  type ReplicaSet,
  type Stored,
} from '../../client/index.ts';
import { isNamespaceTerminating } from '../workloads/pod-control.ts';
import { normalizedTemplate } from '../workloads/pod-template.ts';
import {
  annotationsOf,
  newReplicaSetAnnotations,
  nextRevision,
  replicasAnnotations,
  REVISION,
} from './annotations.ts';
import { progressing, progressingOf, withDeploymentCondition } from './conditions.ts';
import { hasTemplate, TEMPLATE_HASH_LABEL, totalReplicas } from './replica-sets.ts';
import type { Rollout } from './rollout.ts';
import { maxSurgeOf, newReplicaSetSize, progressDeadlineMs, replicasOf } from './strategy.ts';

const NAME_LENGTH_MAX = 253;

/** The name follows from the template: one that was made before a crash is found, not made again. */
const replicaSetName = (deployment: string, hash: string): string =>
  `${deployment.slice(0, NAME_LENGTH_MAX - hash.length - 1)}-${hash}`;

const withHash = (selector: LabelSelector | undefined, hash: string): LabelSelector => ({
  ...selector,
  matchLabels: { ...selector?.matchLabels, [TEMPLATE_HASH_LABEL]: hash },
});

const newReplicaSet = (
  deployment: Stored<Deployment>,
  options: { readonly size: number; readonly revision: bigint; readonly owner: OwnerReference },
): ReplicaSet => {
  const { name, namespace } = deployment.metadata;
  const template = deployment.spec!.template;
  const hash = templateHash(normalizedTemplate(template), deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [TEMPLATE_HASH_LABEL]: hash };
  const desired = replicasOf(deployment);
  const annotations = {
    ...newReplicaSetAnnotations(deployment, {}, options.revision),
    ...replicasAnnotations(desired, desired + maxSurgeOf(deployment)),
  };
  return {
    metadata: {
      name: replicaSetName(name, hash),
      ...(namespace !== undefined && { namespace }),
      ownerReferences: [options.owner],
      labels,
      annotations,
    },
    spec: {
      replicas: options.size,
      minReadySeconds: deployment.spec?.minReadySeconds ?? 0,
      selector: withHash(deployment.spec?.selector, hash),
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
};

/** Brings annotations of the newest replica set, and the deployment's revision, up to date. */
export const syncRevision = async (rollout: Rollout): Promise<void> => {
  const { deployment, newest, clock } = rollout;
  if (!newest) return;
  const annotations = newReplicaSetAnnotations(deployment, newest, nextRevision(rollout.old));
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
  let replicaSet = newest;
  if (
    canonicalJson(annotations) !== canonicalJson(annotationsOf(newest)) ||
    (newest.spec?.minReadySeconds ?? 0) !== minReadySeconds
  )
    replicaSet = await rollout.updateReplicaSet({
      ...newest,
      metadata: { ...newest.metadata, annotations: { ...annotations } },
      spec: { ...newest.spec!, minReadySeconds },
    });
  const revision = annotationsOf(replicaSet)[REVISION] ?? '';
  const isKnown = annotationsOf(deployment)[REVISION] === revision;
  const lacksProgress =
    progressDeadlineMs(deployment) !== undefined && !progressingOf(deployment.status?.conditions);
  if (isKnown && !lacksProgress) return;
  const found = progressing(
    'True',
    'FoundNewReplicaSet',
    `Found new replica set "${replicaSet.metadata.name}"`,
    clock.nowMs(),
  );
  const conditions = lacksProgress
    ? withDeploymentCondition(deployment.status?.conditions, found)
    : deployment.status?.conditions;
  await rollout.writeStatus(
    { ...deployment.status, ...(conditions && { conditions: [...conditions] }) },
    { [REVISION]: revision },
  );
};

/** Rejects with the refusal, after counting the collision: the next try has another name. */
const resolveExisting = async (
  rollout: Rollout,
  name: string,
  refusal: unknown,
): Promise<Stored<ReplicaSet>> => {
  const { deployment, client } = rollout;
  const existing = await client.resource(REPLICA_SET, deployment.metadata.namespace).get(name);
  if (isControlledBy(existing, deployment) && hasTemplate(existing, deployment.spec?.template))
    return existing;
  await rollout.writeStatus({
    ...deployment.status,
    collisionCount: (deployment.status?.collisionCount ?? 0) + 1,
  });
  throw refusal;
};

const reportFailure = async (rollout: Rollout, name: string, error: unknown): Promise<void> => {
  const { deployment, events, clock } = rollout;
  const message = `Failed to create new replica set "${name}": ${messageOf(error)}`;
  events.event(deployment, 'Warning', 'ReplicaSetCreateError', message);
  if (progressDeadlineMs(deployment) === undefined) return;
  const condition = progressing('False', 'ReplicaSetCreateError', message, clock.nowMs());
  await rollout.writeStatus({
    ...deployment.status,
    conditions: [...withDeploymentCondition(deployment.status?.conditions, condition)],
  });
};

/** Makes the replica set of the present template, unless it is there. */
export const ensureNewReplicaSet = async (rollout: Rollout): Promise<Stored<ReplicaSet>> => {
  if (rollout.newest) return rollout.newest;
  const { client, deployment, events } = rollout;
  const revision = nextRevision(rollout.old);
  const size = newReplicaSetSize(deployment, { current: 0, totalReplicas: totalReplicas(rollout.old) });
  const wanted = newReplicaSet(deployment, {
    size,
    revision,
    owner: controllerReference(DEPLOYMENT, deployment),
  });
  const name = wanted.metadata!.name!;
  try {
    rollout.newest = await client.resource(REPLICA_SET, deployment.metadata.namespace).create(wanted);
  } catch (error) {
    if (isAlreadyExists(error)) {
      rollout.newest = await resolveExisting(rollout, name, error);
      await syncRevision(rollout);
      return rollout.newest;
    }
    if (!isNamespaceTerminating(error)) await reportFailure(rollout, name, error);
    throw error;
  }
  if (size > 0)
    events.event(
      deployment,
      'Normal',
      'ScalingReplicaSet',
      `Scaled up replica set ${name} from 0 to ${size}`,
    );
  const created = progressing(
    'True',
    'NewReplicaSetCreated',
    `Created new replica set "${name}"`,
    rollout.clock.nowMs(),
  );
  const conditions =
    progressDeadlineMs(deployment) === undefined
      ? (deployment.status?.conditions ?? [])
      : withDeploymentCondition(deployment.status?.conditions, created);
  await rollout.writeStatus(
    { ...deployment.status, conditions: [...conditions] },
    { [REVISION]: String(revision) },
  );
  return rollout.newest;
};
