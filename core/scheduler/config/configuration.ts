import type { ProfileConfig } from '../profile/profile.ts';
import { DEFAULT_SCHEDULER_NAME } from '../model/objects.ts';

export interface ExtenderConfig {
  readonly urlPrefix: string;
  readonly filterVerb?: string;
  readonly prioritizeVerb?: string;
  readonly bindVerb?: string;
  readonly preemptVerb?: string;
  readonly weight?: number;
  readonly httpTimeoutMs?: number;
  /** The extender has its own cache of nodes: only names travel. */
  readonly nodeCacheCapable?: boolean;
  readonly managedResources?: readonly { readonly name: string; readonly ignoredByScheduler?: boolean }[];
  readonly ignorable?: boolean;
  readonly enableHTTPS?: boolean;
  readonly tlsConfig?: {
    readonly insecure?: boolean;
    readonly serverName?: string;
    readonly certFile?: string;
    readonly keyFile?: string;
    readonly caFile?: string;
    readonly certData?: string;
    readonly keyData?: string;
    readonly caData?: string;
  };
}

export interface LeaderElectionConfig {
  readonly leaderElect: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly resourceName: string;
  readonly resourceNamespace: string;
}

export interface ClientConnectionConfig {
  readonly kubeconfig: string;
  readonly qps: number;
  readonly burst: number;
}

/** KubeSchedulerConfiguration, with every default filled in. */
export interface SchedulerConfiguration {
  readonly parallelism: number;
  readonly percentageOfNodesToScore: number;
  readonly podInitialBackoffSeconds: number;
  readonly podMaxBackoffSeconds: number;
  readonly profiles: readonly ProfileConfig[];
  readonly extenders: readonly ExtenderConfig[];
  readonly leaderElection: LeaderElectionConfig;
  readonly clientConnection: ClientConnectionConfig;
}

export const DEFAULT_CONFIGURATION: SchedulerConfiguration = {
  parallelism: 16,
  percentageOfNodesToScore: 0,
  podInitialBackoffSeconds: 1,
  podMaxBackoffSeconds: 10,
  profiles: [{ schedulerName: DEFAULT_SCHEDULER_NAME }],
  extenders: [],
  leaderElection: {
    leaderElect: true,
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2000,
    resourceName: 'kube-scheduler',
    resourceNamespace: 'kube-system',
  },
  // As the flags: no limit unless one is given (upstream: 50 and 100).
  clientConnection: { kubeconfig: '', qps: 0, burst: 0 },
};
