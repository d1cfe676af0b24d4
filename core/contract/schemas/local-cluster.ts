import * as v from 'valibot';
import { clusterAction } from '../actions/actions.ts';
import { name, path } from '../actions/define.ts';
import { flagChanges } from '../actions/host-actions.ts';
import { said } from '../sentences/said.ts';
import { activeFault } from './fault.ts';

export const HOSTS_MAX = 64;
export const COMPONENTS_PER_HOST_MAX = 16;

/** How a new cluster is made. */
export const clusterWishes = v.object({
  name: v.pipe(v.string(), v.regex(/^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$/)),
  /** Null: a folder of that name below the console's own. */
  directory: v.nullable(path),
  topology: v.picklist(['stacked', 'external']),
  controlPlanes: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(7)),
  etcdMembers: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(7)),
  workers: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(5000)),
  kubernetesVersion: v.pipe(v.string(), v.regex(/^v1\.\d{1,3}\.\d{1,3}$/)),
  /** `drills`: a scratch cluster that drills may break. */
  purpose: v.optional(v.picklist(['drills'])),
});
export type ClusterWishes = v.InferOutput<typeof clusterWishes>;

/** What a form about a new cluster begins with. */
export const clusterDefaults = v.object({
  wishes: clusterWishes,
  /** Where `directory: null` leads to, without the name. */
  parentDirectory: v.string(),
  kubernetesVersions: v.array(v.string()),
});
export type ClusterDefaults = v.InferOutput<typeof clusterDefaults>;

export const componentState = v.object({
  name: v.string(),
  phase: v.picklist(['starting', 'serving', 'ready', 'stopping', 'exited']),
  version: v.string(),
  restarts: v.number(),
  /** After the start of the cluster. */
  changedMs: v.number(),
  /** The component's own words. */
  message: v.nullable(v.string()),
  heapBytes: v.nullable(v.number()),
  /** Share of one core, 0 to 1. */
  utilization: v.nullable(v.number()),
  /** Holds the lease of its kind, or leads etcd. */
  isLeader: v.boolean(),
});
export type ComponentState = v.InferOutput<typeof componentState>;

export const hostState = v.object({
  name: v.string(),
  role: v.picklist(['control-plane', 'etcd', 'workers']),
  address: v.string(),
  phase: v.picklist(['starting', 'running', 'paused', 'stopping', 'stopped', 'killed', 'failed']),
  pid: v.nullable(v.number()),
  rssBytes: v.nullable(v.number()),
  message: v.nullable(said),
  /** After unexpected exits, since the cluster was started. */
  restarts: v.number(),
  /** The last exit that no one asked for; given up: it stays down until a person starts it. */
  lastExit: v.nullable(v.object({ reason: said, atMs: v.number(), isGivenUp: v.boolean() })),
  nodes: v.array(v.string()),
  components: v.pipe(v.array(componentState), v.maxLength(COMPONENTS_PER_HOST_MAX)),
});
export type HostState = v.InferOutput<typeof hostState>;

export const backendState = v.object({
  name: v.string(),
  address: v.string(),
  isHealthy: v.boolean(),
  isDraining: v.boolean(),
  connections: v.number(),
});

/** A cluster that this console hosts, as its supervisor sees it. */
export const localClusterState = v.object({
  /** `failed`: the cluster failed to start; `message` says why and what to do. */
  phase: v.picklist(['stopped', 'preparing', 'starting', 'ready', 'stopping', 'failed']),
  message: v.nullable(said),
  name: v.string(),
  directory: v.string(),
  kubernetesVersion: v.string(),
  topology: v.picklist(['stacked', 'external']),
  endpoint: v.string(),
  kubeconfigPath: v.string(),
  startedAtMs: v.nullable(v.number()),
  readyAfterMs: v.nullable(v.number()),
  warnings: v.array(said),
  hosts: v.pipe(v.array(hostState), v.maxLength(HOSTS_MAX)),
  loadBalancer: v.nullable(
    v.object({
      address: v.string(),
      port: v.number(),
      connections: v.number(),
      backends: v.array(backendState),
    }),
  ),
  /** What is broken intentionally right now. */
  faults: v.array(activeFault),
});
export type LocalClusterState = v.InferOutput<typeof localClusterState>;

export const flagsRequest = v.object({ component: name, flags: flagChanges });
export type FlagsRequest = v.InferOutput<typeof flagsRequest>;
/** The manifests that a change of flags would write. */
export const flagsDiff = v.object({
  files: v.array(v.object({ host: v.string(), path: v.string(), before: v.string(), after: v.string() })),
});
export type FlagsDiff = v.InferOutput<typeof flagsDiff>;

/** What an action would do, as codes with figures: the console makes the sentences. */
export const actionPreview = v.object({
  /** `safe`: no one notices. `degraded`: one more failure is an outage. `outage`: writes stop. */
  verdict: v.picklist(['safe', 'degraded', 'outage']),
  quorum: v.nullable(
    v.object({
      voters: v.number(),
      needed: v.number(),
      healthyNow: v.number(),
      votersAfter: v.number(),
      neededAfter: v.number(),
      healthyAfter: v.number(),
    }),
  ),
  effects: v.array(
    v.object({
      code: v.picklist([
        'etcdLeaderMoves',
        'quorumLost',
        'noFailureTolerated',
        'apiServersLeft',
        'noApiServerLeft',
        'leaseMoves',
        'podsMove',
        'nodeStopsAnswering',
        'memberAnswersNothing',
        'writesPause',
        'everythingReplaced',
        'componentRestarts',
        'evenMembers',
      ]),
      /** Names and counts for the sentence. */
      subject: v.string(),
      count: v.number(),
    }),
  ),
});
export type ActionPreview = v.InferOutput<typeof actionPreview>;

export const operationStep = v.object({
  id: v.string(),
  title: said,
  state: v.picklist(['waiting', 'running', 'done', 'failed', 'skipped']),
  /** Progress while it runs, the outcome after. */
  detail: v.nullable(said),
  startedAtMs: v.nullable(v.number()),
  endedAtMs: v.nullable(v.number()),
});
export type OperationStep = v.InferOutput<typeof operationStep>;

export const operation = v.object({
  id: v.string(),
  action: clusterAction,
  state: v.picklist(['running', 'paused', 'done', 'failed']),
  startedAtMs: v.number(),
  endedAtMs: v.nullable(v.number()),
  steps: v.array(operationStep),
  /** One sentence: the outcome, or what happened and what to do. */
  message: v.nullable(said),
  canPause: v.boolean(),
  /** The same on a command line. */
  command: v.string(),
});
export type Operation = v.InferOutput<typeof operation>;
/** The newest operations of a cluster that a host remembers. */
export const OPERATIONS_MAX = 50;
