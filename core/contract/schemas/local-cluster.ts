import * as v from 'valibot';
import { said } from '../sentences/said.ts';
import { activeFault, faultRequest } from './fault.ts';
import { hardeningWishes } from './harden.ts';

/** Names of hosts, components and members are short; what is longer is no name. */
const NAME_CHARACTERS_MAX = 256;
const PATH_CHARACTERS_MAX = 4096;
export const HOSTS_MAX = 64;
export const COMPONENTS_PER_HOST_MAX = 16;

const name = v.pipe(v.string(), v.maxLength(NAME_CHARACTERS_MAX));
const path = v.pipe(v.string(), v.maxLength(PATH_CHARACTERS_MAX));

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

const host = v.object({ host: name });
const component = v.object({ host: name, component: name });
const member = v.object({ member: name });

const FLAGS_MAX = 16;
const flagChanges = v.pipe(
  v.array(
    v.object({
      name: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,127}$/)),
      /** Null removes the flag. */
      value: v.nullable(v.pipe(v.string(), v.maxLength(4096), v.regex(/^[^\n\r]*$/))),
    }),
  ),
  v.minLength(1),
  v.maxLength(FLAGS_MAX),
);

export const flagsRequest = v.object({ component: name, flags: flagChanges });
export type FlagsRequest = v.InferOutput<typeof flagsRequest>;
/** The manifests that a change of flags would write. */
export const flagsDiff = v.object({
  files: v.array(v.object({ host: v.string(), path: v.string(), before: v.string(), after: v.string() })),
});
export type FlagsDiff = v.InferOutput<typeof flagsDiff>;

/**
 * What a person does to a cluster. Each is an operation with steps that continues when the window that asked is closed.
 * `drain` works on every cluster, the rest on those that this console hosts.
 */
export const clusterAction = v.variant('kind', [
  v.object({ kind: v.literal('host.kill'), ...host.entries }),
  v.object({ kind: v.literal('host.stop'), ...host.entries }),
  v.object({ kind: v.literal('host.start'), ...host.entries }),
  /** Stopped in order and started again; what was broken in it intentionally is whole after it. */
  v.object({ kind: v.literal('host.restart'), ...host.entries }),
  v.object({ kind: v.literal('host.pause'), ...host.entries }),
  v.object({ kind: v.literal('host.resume'), ...host.entries }),
  v.object({ kind: v.literal('component.kill'), ...component.entries }),
  v.object({ kind: v.literal('component.stop'), ...component.entries }),
  v.object({ kind: v.literal('component.start'), ...component.entries }),
  /** Sets or removes flags in the manifests of a component, one host after the other. */
  v.object({ kind: v.literal('component.flags'), component: name, flags: flagChanges }),
  /** Breaks something intentionally, until it is healed or a host that it names is started again. */
  v.object({ kind: v.literal('fault.add'), fault: faultRequest }),
  /** Cuts a host off from all others and from the load balancer. */
  v.object({ kind: v.literal('fault.isolate'), ...host.entries }),
  /** One by its id, or `all`. */
  v.object({ kind: v.literal('fault.heal'), id: name }),
  v.object({ kind: v.literal('member.moveLeader'), ...member.entries }),
  v.object({ kind: v.literal('member.remove'), ...member.entries }),
  /** One more control plane with a member of its own, or one more etcd host. */
  v.object({ kind: v.literal('member.add') }),
  /** Null: one after the other, the leader last. */
  v.object({ kind: v.literal('etcd.defragment'), member: v.nullable(name) }),
  /** Null: up to the present revision. */
  v.object({ kind: v.literal('etcd.compact'), revision: v.nullable(v.number()) }),
  v.object({ kind: v.literal('etcd.disarm') }),
  v.object({ kind: v.literal('snapshot.save') }),
  v.object({ kind: v.literal('snapshot.restore'), file: path }),
  v.object({ kind: v.literal('snapshot.delete'), file: path }),
  v.object({ kind: v.literal('upgrade.apply'), version: name }),
  v.object({ kind: v.literal('upgrade.rollback') }),
  /** Rolls measures out host by host. */
  v.object({ kind: v.literal('harden.apply'), wishes: hardeningWishes }),
  v.object({ kind: v.literal('harden.rollback') }),
  v.object({ kind: v.literal('encryption.enable') }),
  v.object({ kind: v.literal('encryption.rotate') }),
  /** Null: all of them. */
  v.object({
    kind: v.literal('certificates.renew'),
    names: v.nullable(v.pipe(v.array(name), v.maxLength(256))),
  }),
  v.object({
    kind: v.literal('node.drain'),
    node: name,
    ignoreDaemonSets: v.boolean(),
    deleteEmptyDirData: v.boolean(),
    force: v.boolean(),
    /** Null: as each pod says. */
    gracePeriodSeconds: v.nullable(v.number()),
  }),
]);
export type ClusterAction = v.InferOutput<typeof clusterAction>;

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
