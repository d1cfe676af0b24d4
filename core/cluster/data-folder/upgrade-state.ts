import { join } from 'node:path';
import * as v from 'valibot';
import { say } from '../../contract/index.ts';
import { stateFile } from '../data-folder/state-file.ts';

const schema = v.object({
  from: v.string(),
  to: v.string(),
  /** `done`: every host is there; kept so that it can be rolled back. */
  phase: v.picklist(['applying', 'rolling-back', 'done']),
  startedAt: v.string(),
  /** The pre-upgrade snapshot; null if etcd is external. */
  snapshot: v.nullable(v.string()),
  /** The releases of kubelets that are not the cluster's. */
  nodeVersions: v.record(v.string(), v.string()),
  /** Nodes that this upgrade has cordoned and owes an uncordon. */
  cordoned: v.array(v.string()),
});

/** An upgrade in progress, or the last one. What runs in manifests is not here: the manifests say it. */
export type UpgradeState = v.InferOutput<typeof schema>;

const file = stateFile({
  schema,
  path: (data) => join(data, 'upgrade.json'),
  remedy: say('directory.damaged.upgrade'),
});

export const readUpgradeState = (data: string): Promise<UpgradeState | undefined> => file.read(data);
export const writeUpgradeState = (data: string, state: UpgradeState): Promise<void> =>
  file.write(data, state);
export const forgetUpgrade = (data: string): Promise<void> => file.forget(data);
