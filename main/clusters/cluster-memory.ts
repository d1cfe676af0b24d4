import { readFileSync } from 'node:fs';
import { say, saidOf, SaidError } from '../../core/contract/index.ts';
import { join } from 'node:path';
import * as v from 'valibot';
import { parseClusterConfig } from '../../core/cluster/config/config.ts';
import { clusterFile } from '../../core/cluster/data-folder/layout.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import { openJsonDocument, type Damage, type JsonDocument } from '../state/json-document.ts';

export const CLUSTERS_MAX = 64;

const memorySchema = v.object({
  clusters: v.pipe(
    v.array(v.object({ directory: v.string(), isRunning: v.boolean() })),
    v.maxLength(CLUSTERS_MAX),
  ),
});

/** What `clusters.json` remembers: where clusters are, and which were running. What they are is in their folders. */
export type ClusterMemory = v.InferOutput<typeof memorySchema>;

export const openClusterMemory = (
  dataDirectory: string,
  onDamage: (damage: Damage) => void,
): JsonDocument<ClusterMemory> =>
  openJsonDocument({
    path: join(dataDirectory, 'clusters.json'),
    schema: memorySchema,
    initial: { clusters: [] },
    onDamage,
  });

/** Immediately, because the first list must not say that there are none. Throws one line for the user. */
export const readClusterNow = (directory: string): ClusterConfig => {
  let text: string;
  try {
    text = readFileSync(clusterFile(directory), 'utf8');
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new SaidError(
      isMissing ? 'NotFound' : 'Unavailable',
      isMissing ? say('failure.noClusterYaml') : saidOf(cause),
      { cause },
    );
  }
  return parseClusterConfig(text, clusterFile(directory));
};
