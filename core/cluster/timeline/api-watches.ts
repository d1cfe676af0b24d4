import { crc32c } from '../../base/crc32c.ts';
import { authorOf } from '../../api/meta/index.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Log } from '../../base/log.ts';
import { systemRandom } from '../../base/node/random.ts';
import {
  DAEMON_SET,
  DEPLOYMENT,
  EVENT,
  InformerFactory,
  LEASE,
  NODE,
  STATEFUL_SET,
  type Client,
  type DaemonSet,
  type Deployment,
  type Event,
  type Kind,
  type Lease,
  type Node,
  type StatefulSet,
  type Stored,
} from '../../client/index.ts';
import { say, type Said } from '../../contract/index.ts';
import { kindOf } from '../monitor/leases/lease-track.ts';
import type { Observation } from './draft.ts';
import { leaseChanges, type LeaseHolder } from './observe/lease-changes.ts';
import { nodeAdded, nodeChanges, nodeRemoved } from './observe/node-changes.ts';
import { rolloutChanges, rolloutOver, type WorkloadView } from './observe/rollout-changes.ts';

/** Where components elect their leaders; the heartbeats of nodes are elsewhere. */
const ELECTIONS_NAMESPACE = 'kube-system';
const MESSAGE_CHARACTERS_MAX = 200;
/** A warning that repeats is told again at most this often. */
const REPEAT_MS = 300_000;

export interface ApiWatchesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  see(observations: readonly Observation[]): void;
}

type Workload = Deployment | StatefulSet | DaemonSet;

const clip = (text: string): string =>
  text.length > MESSAGE_CHARACTERS_MAX ? `${text.slice(0, MESSAGE_CHARACTERS_MAX)}…` : text;

const holderOf = (lease: Stored<Lease>): LeaseHolder => ({
  namespace: lease.metadata.namespace ?? '',
  name: lease.metadata.name,
  holder: lease.spec?.holderIdentity ?? '',
});

/** The client that last changed something other than the status. */
const changedBy = (workload: Stored<Workload>): string =>
  authorOf(workload, undefined, ({ subresource }) => subresource === '')?.manager ?? '';

const progressOf = (workload: Stored<Workload>): Pick<WorkloadView, 'wanted' | 'isComplete' | 'stuck'> => {
  const { spec, status, metadata } = workload;
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  if (status && 'desiredNumberScheduled' in status) {
    const wanted = status.desiredNumberScheduled;
    const isComplete =
      isObserved && (status.updatedNumberScheduled ?? 0) >= wanted && (status.numberAvailable ?? 0) >= wanted;
    // How many there are follows from nodes, not from a person.
    return { wanted: 0, isComplete, stuck: '' };
  }
  const wanted = (spec && 'replicas' in spec ? spec.replicas : undefined) ?? 1;
  const counts = (status ?? {}) as {
    replicas?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
  };
  const isComplete =
    isObserved &&
    (counts.updatedReplicas ?? 0) >= wanted &&
    (counts.availableReplicas ?? 0) >= wanted &&
    (counts.replicas ?? 0) === wanted;
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing');
  return { wanted, isComplete, stuck: progressing?.status === 'False' ? (progressing.message ?? '') : '' };
};

const viewOf = (kind: Kind, workload: Stored<Workload>): WorkloadView => ({
  kind: kind.kind,
  plural: kind.plural,
  namespace: workload.metadata.namespace ?? '',
  name: workload.metadata.name,
  template: `${crc32c(0, Buffer.from(JSON.stringify(workload.spec?.template ?? {}), 'utf8'))}`,
  images: (workload.spec?.template.spec?.containers ?? []).map(({ image }) => image ?? ''),
  changedBy: changedBy(workload),
  ...progressOf(workload),
});

/** A pod's name ends with what its ReplicaSet and itself were given. */
const ownerGuess = (namespace: string, pod: string): string =>
  `${namespace}/${pod.split('-').slice(0, -2).join('-')}`;

const eventText = (event: Stored<Event>): Said =>
  say('timeline.event', {
    object: [event.involvedObject.kind, event.involvedObject.name].join(' '),
    reason: event.reason ?? '',
    message: clip(event.message ?? ''),
  });

const eventDraft = (event: Stored<Event>): Observation => {
  const { kind = '', namespace = '', name = '' } = event.involvedObject;
  const full = namespace === '' ? name : `${namespace}/${name}`;
  const host = event.source?.host ?? '';
  return {
    lane: 'events',
    kind: 'event',
    severity: 'warn',
    about: [full, ...(kind === 'Pod' ? [ownerGuess(namespace, name)] : []), host].filter((one) => one !== ''),
    text: eventText(event),
    source: '/events',
  };
};

const withoutSpec = (node: Stored<Node>): Stored<Node> => {
  const { metadata, spec, status } = node;
  return {
    metadata: { name: metadata.name, uid: metadata.uid, resourceVersion: metadata.resourceVersion },
    ...(spec?.unschedulable === true && { spec: { unschedulable: true } }),
    status: { ...(status?.conditions && { conditions: status.conditions }) },
  } as Stored<Node>;
};

/** Names and counts: of events only what a line says is kept. */
const withoutManagers = <T extends Stored>(object: T): T => {
  delete object.metadata.managedFields;
  return object;
};

/** Watches a few kinds for what a timeline tells; each is a watch of the API like any other client's. */
export const startApiWatches = ({ client, clock, log, see }: ApiWatchesOptions): Disposable => {
  const informers = new InformerFactory({ client, clock, random: systemRandom, log });
  informers.informer(NODE, { transform: withoutSpec }).addHandler({
    added: (node, { isInInitialList }) =>
      see([...(isInInitialList ? [] : [nodeAdded(node)]), ...nodeChanges(undefined, node)]),
    updated: (before, after) => see(nodeChanges(before, after)),
    deleted: (node) => see(nodeRemoved(node)),
  });
  informers
    .informer(LEASE, { namespace: ELECTIONS_NAMESPACE, transform: withoutManagers<Stored<Lease>> })
    .addHandler({
      added: (lease, { isInInitialList }) => {
        if (!isInInitialList && kindOf(lease) === 'election') see(leaseChanges(undefined, holderOf(lease)));
      },
      updated: (before, after) => {
        if (kindOf(after) === 'election') see(leaseChanges(holderOf(before), holderOf(after)));
      },
    });
  for (const kind of [DEPLOYMENT, STATEFUL_SET, DAEMON_SET] as readonly Kind<Workload>[])
    watchWorkloads(informers, kind, see);
  watchEvents(informers, clock, see);
  informers.start();
  return informers;
};

const watchWorkloads = (
  informers: InformerFactory,
  kind: Kind<Workload>,
  see: ApiWatchesOptions['see'],
): void => {
  const views = new Map<string, WorkloadView>();
  const observe = (workload: Stored<Workload>, isNew: boolean): void => {
    const view = viewOf(kind, workload);
    const before = views.get(workload.metadata.uid);
    views.set(workload.metadata.uid, view);
    if (before || isNew) see(rolloutChanges(before, view));
  };
  informers.informer(kind).addHandler({
    added: (workload, { isInInitialList }) => observe(workload, !isInInitialList),
    updated: (_before, after) => observe(after, false),
    deleted: (workload) => {
      const view = views.get(workload.metadata.uid);
      views.delete(workload.metadata.uid);
      if (view && !view.isComplete) see([rolloutOver(view)]);
    },
  });
};

const watchEvents = (informers: InformerFactory, clock: Clock, see: ApiWatchesOptions['see']): void => {
  const toldAtMs = new Map<string, number>();
  const tell = (event: Stored<Event>): void => {
    const nowMs = clock.monotonicMs();
    const lastMs = toldAtMs.get(event.metadata.uid);
    if (lastMs !== undefined && nowMs - lastMs < REPEAT_MS) return;
    toldAtMs.set(event.metadata.uid, nowMs);
    see([eventDraft(event)]);
  };
  informers
    .informer(EVENT, { fieldSelector: 'type=Warning', transform: withoutManagers<Stored<Event>> })
    .addHandler({
      added: (event, { isInInitialList }) => {
        if (!isInInitialList) tell(event);
      },
      updated: (_before, after) => tell(after),
      deleted: (event) => void toldAtMs.delete(event.metadata.uid),
    });
};
