import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { ClusterConfig } from '../config/config.ts';
import { planHosts } from '../config/hosts.ts';
import { manifestsFolder } from './layout.ts';

/** Of API servers, by the `request_kind` of their metrics; zero for no limit. */
export interface InFlightLimits {
  readonly readOnly: number;
  readonly mutating: number;
}

/** Upstream's defaults. */
export const IN_FLIGHT_DEFAULTS: InFlightLimits = { readOnly: 400, mutating: 200 };

/** The command line of a static pod; empty where there is no manifest. */
export const commandOf = async (
  dataDirectory: string,
  host: string,
  component: string,
): Promise<readonly string[]> => {
  const file = join(manifestsFolder(dataDirectory, host), `${component}.yaml`);
  const text = await readFile(file, 'utf8').catch(() => '');
  const pod = parse(text) as { spec?: { containers?: { command?: string[] }[] } } | null;
  return pod?.spec?.containers?.[0]?.command ?? [];
};

/** The value of `--name=value`; undefined when it is not given. */
export const flagOf = (command: readonly string[], name: string): string | undefined => {
  const head = `--${name}=`;
  return command.find((word) => word.startsWith(head))?.slice(head.length);
};

const limitOf = (command: readonly string[], name: string, fallback: number): number => {
  const value = Number(flagOf(command, name) ?? NaN);
  return Number.isNaN(value) ? fallback : value;
};

/** As the first API server's manifest says; all of a cluster are made alike. */
export const inFlightLimitsOf = async (
  dataDirectory: string,
  config: ClusterConfig,
): Promise<InFlightLimits> => {
  const host = planHosts(config).find(({ role }) => role === 'control-plane');
  if (!host) return IN_FLIGHT_DEFAULTS;
  const command = await commandOf(dataDirectory, host.name, 'kube-apiserver');
  return {
    readOnly: limitOf(command, 'max-requests-inflight', IN_FLIGHT_DEFAULTS.readOnly),
    mutating: limitOf(command, 'max-mutating-requests-inflight', IN_FLIGHT_DEFAULTS.mutating),
  };
};
