import { shell } from '../base/shell-words.ts';
import { findCondition } from '../api/meta/index.ts';
import type { KubernetesObject } from '../api/meta/index.ts';
import type {
  V1ContainerStatus,
  V1CronJob,
  V1DaemonSet,
  V1Deployment,
  V1Job,
  V1Node,
  V1Pod,
  V1PodTemplateSpec,
  V1ReplicaSet,
  V1StatefulSet,
} from '../api/schema/index.ts';
import { say } from '../contract/index.ts';
import { idOf, metaOf, reasonOf, type GraphBuilder } from './graph-builder.ts';
import { GRAPH_KIND_NAMES, isGraphKind, type GraphKind } from './kinds.ts';
import { addReferences } from './references.ts';
import { explainScheduling, isUnplaced } from './scheduling.ts';

/** A controller of pods: how many it wants, how many are ready, and from which template they come. */
export interface Workload {
  readonly kind: GraphKind;
  readonly object: KubernetesObject;
  readonly wanted: number;
  readonly ready: number;
  readonly template: V1PodTemplateSpec | undefined;
}

export const workloadsOf = (b: GraphBuilder): readonly Workload[] => [
  ...b.all<V1Deployment>('Deployment').map((object): Workload => ({
    kind: 'Deployment',
    object,
    wanted: object.spec?.replicas ?? 1,
    ready: object.status?.readyReplicas ?? 0,
    template: object.spec?.template,
  })),
  ...b.all<V1ReplicaSet>('ReplicaSet').map((object): Workload => ({
    kind: 'ReplicaSet',
    object,
    wanted: object.spec?.replicas ?? 1,
    ready: object.status?.readyReplicas ?? 0,
    template: object.spec?.template,
  })),
  ...b.all<V1StatefulSet>('StatefulSet').map((object): Workload => ({
    kind: 'StatefulSet',
    object,
    wanted: object.spec?.replicas ?? 1,
    ready: object.status?.readyReplicas ?? 0,
    template: object.spec?.template,
  })),
  ...b.all<V1DaemonSet>('DaemonSet').map((object): Workload => ({
    kind: 'DaemonSet',
    object,
    wanted: object.status?.desiredNumberScheduled ?? 0,
    ready: object.status?.numberReady ?? 0,
    template: object.spec?.template,
  })),
  ...b.all<V1Job>('Job').map((object): Workload => ({
    kind: 'Job',
    object,
    wanted: object.status?.completionTime === undefined ? (object.spec?.completions ?? 1) : 0,
    ready: object.status?.succeeded ?? 0,
    template: object.spec?.template,
  })),
];

const NOT_SHOWN: ReadonlySet<string> = new Set(['Node']);

const addOwners = (b: GraphBuilder): void => {
  for (const kind of GRAPH_KIND_NAMES)
    for (const object of b.all(kind)) {
      const { namespace, name } = metaOf(object);
      for (const owner of object.metadata?.ownerReferences ?? []) {
        if (NOT_SHOWN.has(owner.kind)) continue;
        // Services and their slices are related by what they publish.
        if (kind === 'EndpointSlice' && owner.kind === 'Service') continue;
        const id = isGraphKind(owner.kind)
          ? idOf(owner.kind, namespace, owner.name)
          : b.standIn(
              owner.kind,
              owner.apiVersion.split('/').slice(0, -1).join('/'),
              namespace,
              owner.name,
              'ok',
            );
        // An owner that is gone takes what it owns with it; the garbage collector is at it.
        if (b.nodes.has(id)) b.edge(id, idOf(kind, namespace, name), 'owns');
      }
    }
};

const FAILED_PULLS: ReadonlySet<string> = new Set(['ImagePullBackOff', 'ErrImagePull', 'InvalidImageName']);
const REFUSED_CONFIG: ReadonlySet<string> = new Set(['CreateContainerConfigError', 'CreateContainerError']);

const explainContainer = (b: GraphBuilder, id: string, pod: V1Pod, status: V1ContainerStatus): void => {
  const { namespace, name } = metaOf(pod);
  const { waiting } = status.state ?? {};
  const reason = waiting?.reason ?? '';
  if (FAILED_PULLS.has(reason))
    b.explain(
      id,
      reasonOf(
        'error',
        say('graph.imagePull', { image: status.image ?? '', message: waiting?.message ?? reason }),
        say('graph.fix.imagePull'),
        shell`kubectl -n ${namespace} describe pod ${name}`,
      ),
    );
  else if (reason === 'CrashLoopBackOff')
    b.explain(
      id,
      reasonOf(
        'error',
        say('graph.crashLoop', {
          container: status.name,
          exitCode: String(status.lastState?.terminated?.exitCode ?? '?'),
          restarts: status.restartCount,
        }),
        say('graph.fix.crashLoop'),
        shell`kubectl -n ${namespace} logs ${name} -c ${status.name} --previous`,
      ),
    );
  else if (REFUSED_CONFIG.has(reason))
    b.explain(
      id,
      reasonOf(
        'error',
        say('graph.configRefused', { container: status.name, message: waiting?.message ?? reason }),
        say('graph.fix.configRefused'),
      ),
    );
  else if (status.state?.running && !status.ready)
    b.explain(
      id,
      reasonOf(
        'warning',
        say('graph.notReady', { container: status.name }),
        say('graph.fix.notReady'),
        shell`kubectl -n ${namespace} logs ${name} -c ${status.name}`,
      ),
    );
};

const addPod = (b: GraphBuilder, pod: V1Pod): void => {
  const { namespace, name } = metaOf(pod);
  const id = idOf('Pod', namespace, name);
  const statuses = pod.status?.containerStatuses ?? [];
  const phase =
    pod.metadata?.deletionTimestamp === undefined ? (pod.status?.phase ?? 'Pending') : 'Terminating';
  b.figures(
    id,
    phase === 'Running'
      ? `${statuses.filter(({ ready }) => ready).length}/${pod.spec?.containers?.length ?? 0}`
      : phase,
  );
  if (phase === 'Succeeded') return;
  if (pod.spec) addReferences(b, id, namespace, pod.spec);
  if (isUnplaced(pod)) b.explain(id, explainScheduling(b, pod));
  for (const status of statuses) explainContainer(b, id, pod, status);
  if (phase === 'Pending' || phase === 'Terminating' || phase === 'Failed') b.waits(id);
  const nodeName = pod.spec?.nodeName ?? '';
  if (nodeName === '') return;
  if (b.isAbsent('Node', '', nodeName))
    b.refer(id, { kind: 'Node', namespace: '', name: nodeName }, 'runsOn');
  const node = b.get<V1Node>('Node', '', nodeName);
  if (node && findCondition(node.status?.conditions, 'Ready')?.status !== 'True')
    b.edge(id, idOf('Node', '', nodeName), 'runsOn', [
      reasonOf(
        'error',
        say('graph.nodeNotReady', { node: nodeName }),
        say('graph.fix.nodeNotReady'),
        shell`kubectl describe node ${nodeName}`,
      ),
    ]);
};

/** Owners, pods and what each needs. */
export const addWorkloads = (b: GraphBuilder): void => {
  addOwners(b);
  const pods = b.all<V1Pod>('Pod');
  for (const pod of pods) addPod(b, pod);
  const owners = new Set(
    pods.flatMap(({ metadata }) => (metadata?.ownerReferences ?? []).map(({ uid }) => uid)),
  );
  for (const { kind, object, wanted, ready, template } of workloadsOf(b)) {
    const { namespace, name } = metaOf(object);
    const id = idOf(kind, namespace, name);
    b.figures(id, `${ready}/${wanted}`);
    if (ready < wanted) b.waits(id);
    // A template without pods shows what they would need: a missing account keeps them from being created.
    const hasPods = owners.has(object.metadata?.uid ?? '');
    if (template?.spec && wanted > 0 && !hasPods && kind !== 'Deployment')
      addReferences(b, id, namespace, template.spec);
  }
  for (const job of b.all<V1CronJob>('CronJob'))
    if (job.spec?.suspend === true)
      b.figures(idOf('CronJob', metaOf(job).namespace, metaOf(job).name), 'Suspended');
};
