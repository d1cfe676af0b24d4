import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { callControl } from '../../core/cluster/control/client.ts';
import type { ClusterState } from '../../core/cluster/state/cluster-state.ts';

/** Debian's `no one`: a local user without any right on the data directory. */
const STRANGER = { uid: 65_534, gid: 65_534 };
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const RUN_LIMIT_MS = 60_000;

export const stateOf = (data: string): Promise<ClusterState> => callControl(data, 'status', {});

/** Host name to process id, sorted by name. */
export const hostPids = async (data: string): Promise<Record<string, number | undefined>> => {
  const { hosts } = await stateOf(data);
  return Object.fromEntries(
    hosts
      .map(({ name, pid }): [string, number | undefined] => [name, pid])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
};

export interface StrangerOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export const isRoot = process.getuid?.() === 0;

/**
 * Runs a command as a local user who owns nothing of the cluster. Without root it runs as the present user, with a
 * home directory and environment that lead to no credentials.
 */
export const asStranger = async (command: string, args: readonly string[]): Promise<StrangerOutcome> => {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, [...args], {
      ...(isRoot && STRANGER),
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: '/nonexistent', ETCDCTL_API: '3' },
      maxBuffer: OUTPUT_BYTES_MAX,
      timeout: RUN_LIMIT_MS,
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const failed = error as { code?: number | string; stdout?: string; stderr?: string };
    if (typeof failed.code !== 'number') throw error;
    return { code: failed.code, stdout: failed.stdout ?? '', stderr: failed.stderr ?? '' };
  }
};
