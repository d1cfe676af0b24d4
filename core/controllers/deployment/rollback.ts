import { DEPLOYMENT, type Deployment, type ReplicaSet, type Stored } from '../../client/index.ts';
import { withoutLabel } from '../workloads/pod-template.ts';
import { annotationsOf, revisionOf, rolledBackAnnotations, ROLLBACK_TO } from './annotations.ts';
import { ensureNewReplicaSet } from './new-replica-set.ts';
import { byRevision, hasTemplate, TEMPLATE_HASH_LABEL } from './replica-sets.ts';
import type { Rollout } from './rollout.ts';

/** The second highest. */
const lastRevision = (replicaSets: readonly Stored<ReplicaSet>[]): bigint =>
  revisionOf(replicaSets.toSorted(byRevision).at(-2) ?? {}) ?? 0n;

/** The order is carried out by being taken off: in one write with the template. */
const writeWithoutOrder = async ({ client }: Rollout, deployment: Stored<Deployment>): Promise<void> => {
  const { [ROLLBACK_TO]: _, ...annotations } = annotationsOf(deployment);
  await client
    .resource(DEPLOYMENT, deployment.metadata.namespace)
    .update({ ...deployment, metadata: { ...deployment.metadata, annotations } });
};

/**
 * Goes back to a revision by copying its template, as `kubectl rollout undo` does on its own; this is for clients that
 * ask the server. 0 is the last revision.
 */
export const rollBack = async (rollout: Rollout, target: bigint): Promise<void> => {
  await ensureNewReplicaSet(rollout);
  const { deployment, events, all } = rollout;
  const warn = (reason: string, message: string): void =>
    events.event(deployment, 'Warning', reason, message);
  const revision = target === 0n ? lastRevision(all) : target;
  const replicaSet = revision === 0n ? undefined : all.find((held) => revisionOf(held) === revision);
  if (!replicaSet) {
    const message =
      revision === 0n ? 'Unable to find last revision.' : 'Unable to find the revision to rollback to.';
    warn('DeploymentRollbackRevisionNotFound', message);
    return writeWithoutOrder(rollout, deployment);
  }
  const { name } = deployment.metadata;
  if (hasTemplate(replicaSet, deployment.spec?.template)) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`;
    warn('DeploymentRollbackTemplateUnchanged', message);
    return writeWithoutOrder(rollout, deployment);
  }
  await writeWithoutOrder(rollout, {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: { ...rolledBackAnnotations(deployment, replicaSet) } },
    spec: { ...deployment.spec!, template: withoutLabel(replicaSet.spec?.template, TEMPLATE_HASH_LABEL) },
  });
  events.event(
    deployment,
    'Normal',
    'DeploymentRollback',
    `Rolled back deployment "${name}" to revision ${revision}`,
  );
};
