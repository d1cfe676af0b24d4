import { ReasonError } from '../../base/errors.ts';
import { objectKey } from '../../api/meta/object-meta.ts';
import { selectorFromObject } from '../../api/selector/index.ts';
import {
  claimObjects,
  DEPLOYMENT,
  POD,
  REPLICA_SET,
  resolveController,
  type Deployment,
  type HandlerResult,
  type ReplicaSet,
} from '../../client/index.ts';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { keyedController } from '../workloads/keyed-controller.ts';
import { ownedEvents } from '../workloads/owned-events.ts';
import { isNamespaceTerminating } from '../workloads/pod-control.ts';
import { POD_INDEXERS, podsControlledBy } from '../workloads/pod-index.ts';
import { desiredReplicasOf, rollbackTarget } from './annotations.ts';
import { progressing, progressingOf, withDeploymentCondition } from './conditions.ts';
import { deleteOldRevisions } from './history.ts';
import { syncRevision } from './new-replica-set.ts';
import { isActive, splitByTemplate } from './replica-sets.ts';
import { rollBack } from './rollback.ts';
import { syncStatus } from './rollout-status.ts';
import { Rollout } from './rollout.ts';
import { scaleDeployment } from './scaling.ts';
import { recreate, rollOut } from './strategies.ts';
import { progressDeadlineMs, replicasOf } from './strategy.ts';

/** Upstream's maxRetries: about a minute and a half of doubling pauses. */
const RETRIES_MAX = 15;

/** Pausing stops the clock of the deadline, resuming restarts it. */
const syncPause = async (rollout: Rollout): Promise<void> => {
  const { deployment } = rollout;
  const held = progressingOf(deployment.status?.conditions);
  if (progressDeadlineMs(deployment) === undefined || held?.reason === 'ProgressDeadlineExceeded') return;
  const isPaused = deployment.spec?.paused === true;
  if (isPaused === (held?.reason === 'DeploymentPaused')) return;
  const nowMs = rollout.clock.nowMs();
  const condition = isPaused
    ? progressing('Unknown', 'DeploymentPaused', 'Deployment is paused', nowMs)
    : progressing('Unknown', 'DeploymentResumed', 'Deployment is resumed', nowMs);
  await rollout.writeStatus({
    ...deployment.status,
    conditions: [...withDeploymentCondition(deployment.status?.conditions, condition)],
  });
};

const isScaled = ({ deployment, all }: Rollout): boolean =>
  all.filter(isActive).some((replicaSet) => {
    const desired = desiredReplicasOf(replicaSet);
    return desired !== undefined && desired !== replicasOf(deployment);
  });

export const createDeploymentController = (context: ControllerContext, workers: number): Controller => {
  const { client, informers, events, clock } = context;
  const deployments = informers.informer(DEPLOYMENT);
  const replicaSets = informers.informer(REPLICA_SET);
  const pods = informers.informer(POD, { indexers: POD_INDEXERS });
  const { queue, controller } = keyedController(context, {
    queueName: 'deployment',
    workers,
    retriesMax: RETRIES_MAX,
    async sync(key) {
      try {
        return await sync(key);
      } catch (error) {
        if (!isNamespaceTerminating(error)) throw error;
      }
    },
  });

  deployments.addHandler({
    added: (deployment) => queue.add(objectKey(deployment)),
    updated: (_, deployment) => queue.add(objectKey(deployment)),
    deleted: (deployment) => queue.add(objectKey(deployment)),
  });
  replicaSets.addHandler(
    ownedEvents<Deployment, ReplicaSet>({
      ownerKind: DEPLOYMENT,
      owners: deployments.store,
      selectorOf: (deployment) => selectorFromObject(deployment.spec?.selector),
      enqueue: (deployment) => queue.add(objectKey(deployment)),
    }),
  );
  pods.addHandler({
    /** Recreate waits for the last old pod, which is no change of any replica set. */
    deleted(pod) {
      const replicaSet = resolveController(replicaSets.store, REPLICA_SET, pod);
      const deployment = replicaSet && resolveController(deployments.store, DEPLOYMENT, replicaSet);
      if (deployment?.spec?.strategy?.type === 'Recreate') queue.add(objectKey(deployment));
    },
  });

  async function sync(key: string): Promise<HandlerResult> {
    const deployment = deployments.store.get(key);
    if (!deployment) return;
    const selector = selectorFromObject(deployment.spec?.selector);
    if (selector.isEmpty) {
      const message = 'This deployment is selecting all pods. A non-empty selector is required.';
      events.event(deployment, 'Warning', 'SelectingAll', message);
      return;
    }
    const claimed = await claimObjects({
      client,
      owner: deployment,
      ownerKind: DEPLOYMENT,
      kind: REPLICA_SET,
      selector,
      objects: replicaSets.store.inNamespace(deployment.metadata.namespace ?? ''),
    });
    const rollout = new Rollout({
      client,
      events,
      clock,
      deployment,
      ...splitByTemplate(deployment, claimed),
    });
    if (deployment.metadata.deletionTimestamp) return syncStatus(rollout);
    await syncPause(rollout);
    await syncRevision(rollout);
    const target = rollbackTarget(deployment);
    if (deployment.spec?.paused) {
      await scaleDeployment(rollout);
      if (target === undefined) await deleteOldRevisions(rollout);
      return syncStatus(rollout);
    }
    if (target !== undefined) return rollBack(rollout, target);
    if (isScaled(rollout)) {
      await scaleDeployment(rollout);
      return syncStatus(rollout);
    }
    switch (deployment.spec?.strategy?.type ?? '') {
      case 'Recreate':
        return recreate(rollout, (replicaSet) => podsControlledBy(pods.store, replicaSet));
      case 'RollingUpdate':
        return rollOut(rollout);
      default:
        throw new ReasonError(
          'UnknownStrategy',
          `unexpected deployment strategy type: ${deployment.spec?.strategy?.type}`,
        );
    }
  }

  return controller;
};
