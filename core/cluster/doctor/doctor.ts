import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../client/index.ts';
import type { Finding } from '../../contract/index.ts';
import type { ClusterConfig } from '../config/config.ts';
import { askApi, collectEvidence, type CollectOptions } from './collect.ts';
import { diagnose } from './diagnose.ts';

export interface Examination {
  readonly findings: readonly Finding[];
  /** What could not be asked for, and why. */
  readonly gaps: readonly string[];
}

/** Examines a cluster of this machine. */
export const examineRunning = async (
  data: string,
  config: ClusterConfig,
  options: CollectOptions,
): Promise<Examination> => {
  const evidence = await collectEvidence(data, config, options);
  return { findings: diagnose(evidence), gaps: evidence.gaps };
};

/** Examines any cluster as far as its API tells. */
export const examineByApi = async (client: Client, clock: Clock): Promise<Examination> => {
  const asked = await askApi(client, clock);
  const findings = diagnose({
    ...asked,
    nowMs: clock.nowMs(),
    hosts: null,
    faults: [],
    members: null,
    quotaBytes: null,
    fsyncSeconds: null,
    certificates: null,
  });
  return { findings, gaps: asked.gaps };
};
