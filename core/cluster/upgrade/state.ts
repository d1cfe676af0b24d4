import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';

const schema = v.object({
  from: v.string(),
  to: v.string(),
  /** `done`: every host is there; kept so that it can be rolled back. */
  phase: v.picklist(['applying', 'rolling-back', 'done']),
  startedAt: v.string(),
  /** The snapshot of before; null where etcd is not ours. */
  snapshot: v.nullable(v.string()),
  /** The releases of kubelets that are not the cluster's. */
  nodeVersions: v.record(v.string(), v.string()),
  /** Nodes that this upgrade has cordoned and owes an uncordon. */
  cordoned: v.array(v.string()),
});

/** An upgrade under way, or the last one. What runs in manifests is not here: the manifests say it. */
export type UpgradeState = v.InferOutput<typeof schema>;

const stateFile = (data: string): string => join(data, 'upgrade.json');

export const readUpgradeState = async (data: string): Promise<UpgradeState | undefined> => {
  const path = stateFile(data);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause;
  }
  try {
    return v.parse(schema, JSON.parse(text));
  } catch (cause) {
    throw new ReasonError(
      'BadConfiguration',
      `${path} is damaged: ${messageOf(cause)}; delete it, then pilothouse upgrade plan shows what runs`,
      { cause },
    );
  }
};

export const writeUpgradeState = (data: string, state: UpgradeState): Promise<void> =>
  writeFileAtomically(stateFile(data), `${JSON.stringify(state, undefined, 2)}\n`);

export const forgetUpgrade = (data: string): Promise<void> => rm(stateFile(data), { force: true });
