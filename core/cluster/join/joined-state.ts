import { join } from 'node:path';
import * as v from 'valibot';
import { say } from '../../contract/index.ts';
import { stateFile } from '../data-folder/state-file.ts';

const schema = v.object({
  nodeName: v.string(),
  nodeIP: v.string(),
  /** As the cluster names it. */
  server: v.string(),
  runtime: v.picklist(['simulated', 'cri']),
  runtimeEndpoint: v.string(),
});

/** What this machine is in its cluster. */
export type JoinedState = v.InferOutput<typeof schema>;

export const joinedFile = stateFile({
  schema,
  path: (data) => join(data, 'node.json'),
  remedy: say('directory.damaged.rejoin'),
});
