import { randomUUID } from 'node:crypto';
import { silentLog } from '../../../base/log.ts';
import type { Clock } from '../../../base/clock.ts';
import { Registry } from '../../../base/metrics/index.ts';
import { releaseOf } from '../../../api/releases/index.ts';
import {
  applyDefaults,
  structOfKind,
  type V1ConfigMap,
  type V1Container,
  type V1Pod,
  type V1PodSpec,
  type V1PodStatus,
  type V1Secret,
  type V1Service,
} from '../../../api/schema/index.ts';
import type { Runtime } from '../../runtimes/runtime.ts';
import { kubeletMetrics } from '../../sync/kubelet-metrics.ts';
import type { NodeContext } from '../../sync/node-context.ts';
import { PodWorker } from '../../sync/pod-worker.ts';
import { logOfRecord } from '../world.ts';

const PATIENCE_MS = 60_000;
const LOOK_MS = 25;
const MINOR = 36;

/** What pods of the table find on their node. */
export interface BehaviourNode {
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly hostIP: string;
  /** Has a shell and the usual small programs. */
  readonly image: string;
}

/** What is known of a pod once it has come as far as its claims need. */
export interface Seen {
  readonly pod: V1Pod;
  readonly status: V1PodStatus;
  /** `Normal Started Container started`, oldest first. */
  readonly events: readonly string[];
  /** Lines of the newest start of each container. */
  readonly logs: Readonly<Record<string, readonly string[]>>;
  /** Every status that was told, oldest first. */
  readonly history: readonly V1PodStatus[];
}

interface ClaimBase {
  /** A sentence of the documentation, in our words. */
  readonly claim: string;
  /** Why simulated pods cannot show it; they are not asked. */
  readonly notSimulated?: string;
}

/** A command in a container of the pod, and the text that it prints. */
interface ShellClaim extends ClaimBase {
  readonly sh: string;
  readonly prints: string | ((pod: V1Pod, status: V1PodStatus) => string);
  /** Default: `main`. */
  readonly in?: string;
}

/** Something that status, events or logs of the pod show. */
interface SeenClaim extends ClaimBase {
  readonly see: (seen: Seen) => unknown;
  readonly is: unknown;
}

export type BehaviourClaim = ShellClaim | SeenClaim;

/** A pod in progress, for behaviours that change it. */
export interface PodInProgress {
  readonly worker: PodWorker;
  readonly events: readonly string[];
  readonly clock: Clock;
  status(): V1PodStatus;
  logs(): Promise<Seen['logs']>;
  update(change: (pod: V1Pod) => V1Pod): void;
  until(what: string, isSo: () => unknown): Promise<void>;
}

export interface Behaviour {
  /** Of the pod, and of the group of claims. */
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** A container without an image has that of the node, and one without a command runs its claims. */
  readonly spec: Partial<V1PodSpec>;
  /** Last line of the script that runs the claims; default: it ends. */
  readonly ending?: string;
  readonly configMaps?: readonly V1ConfigMap[];
  readonly secrets?: readonly V1Secret[];
  readonly services?: readonly V1Service[];
  /** What happens to the pod before it is looked at; default: it runs to its end. */
  readonly story?: (run: PodInProgress) => Promise<void>;
  readonly claims: readonly BehaviourClaim[];
  /** Why simulated pods can show none of it. */
  readonly notSimulated?: string;
}

const MARK = '@@';
const isShell = (claim: BehaviourClaim): claim is ShellClaim => 'sh' in claim;

const scriptOf = ({ claims, ending }: Behaviour, container: string): string =>
  [
    ...claims.flatMap((claim, index) =>
      isShell(claim) && (claim.in ?? 'main') === container ? [`echo; echo ${MARK}${index}`, claim.sh] : [],
    ),
    `echo; echo ${MARK}end`,
    ending ?? 'exit 0',
  ].join('\n');

/** What the commands of a container have printed, by the number of the claim. */
const answersOf = (lines: readonly string[]): ReadonlyMap<string, string> => {
  const answers = new Map<string, string>();
  let key = '';
  for (const line of lines)
    if (line.startsWith(MARK)) {
      key = line.slice(MARK.length);
      answers.set(key, '');
    } else answers.set(key, `${answers.get(key) ?? ''}${line}\n`);
  return answers;
};

const podOf = (behaviour: Behaviour, image: string): V1Pod => {
  const { name, labels, annotations, spec } = behaviour;
  const filled = (container: V1Container): V1Container => ({
    ...container,
    image: container.image ?? image,
    ...(!container.command && { command: ['/bin/sh', '-c', scriptOf(behaviour, container.name)] }),
  });
  const pod: V1Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: randomUUID(),
      generation: 1,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      serviceAccountName: 'builder',
      ...structuredClone(spec),
      containers: (spec.containers ?? [{ name: 'main' }]).map(filled),
      ...(spec.initContainers && { initContainers: spec.initContainers.map(filled) }),
      nodeName: 'n1',
    },
  };
  const struct = structOfKind({ group: '', version: 'v1', kind: 'Pod' });
  if (struct) applyDefaults(struct, pod as unknown as Record<string, unknown>, { minor: MINOR, now: '' });
  return pod;
};

const contextOf = (node: BehaviourNode, behaviour: Behaviour, events: string[]): NodeContext => ({
  nodeName: 'n1',
  hostIP: node.hostIP,
  clusterDns: { servers: ['10.96.0.10'], domain: 'cluster.local' },
  clock: node.clock,
  log: silentLog,
  runtime: node.runtime,
  objects: {
    configMap: (_, name) =>
      Promise.resolve(behaviour.configMaps?.find(({ metadata }) => metadata?.name === name)),
    secret: (_, name) => Promise.resolve(behaviour.secrets?.find(({ metadata }) => metadata?.name === name)),
    services: () => Promise.resolve([...(behaviour.services ?? [])]),
    token: (_, { audience, expirationSeconds }) =>
      Promise.resolve(`token for ${audience ?? 'the API'} of ${expirationSeconds ?? 3600} seconds`),
  },
  allocatable: { cpu: '4', memory: '8Gi' },
  environment: new Map([['KUBERNETES_SERVICE_HOST', '10.96.0.1']]),
  metrics: kubeletMetrics(new Registry()),
  probeUserAgent: 'kube-probe/1.36',
  release: releaseOf(MINOR),
  event: (_, type, reason, message) => void events.push(`${type} ${reason} ${message}`),
});

const toItsEnd = (run: PodInProgress): Promise<void> =>
  run.until('the end of the pod', () => ['Succeeded', 'Failed'].includes(run.status().phase ?? ''));

/** Runs the pod of a behaviour as far as its story goes, and removes it. */
const runPod = async (node: BehaviourNode, behaviour: Behaviour): Promise<Seen> => {
  const { clock, runtime, image } = node;
  const events: string[] = [];
  const history: V1PodStatus[] = [];
  const worker = new PodWorker({
    context: contextOf(node, behaviour, events),
    pod: podOf(behaviour, image),
    isStatic: false,
    onStatus: ({ status }) => history.push(status!),
    onTerminated: () => undefined,
  });
  const logs = async (): Promise<Seen['logs']> =>
    Object.fromEntries(
      await Promise.all(
        worker.records.map(async (record) => [record.spec.name, await logOfRecord(record)] as const),
      ),
    );
  const run: PodInProgress = {
    worker,
    events,
    clock,
    logs,
    status: () => worker.status ?? {},
    update: (change) => worker.update(change(structuredClone(worker.pod))),
    async until(what, isSo) {
      const deadlineMs = clock.monotonicMs() + PATIENCE_MS;
      while (!(await isSo())) {
        if (clock.monotonicMs() > deadlineMs)
          throw new Error(`waited too long for ${what}: ${JSON.stringify([worker.status, events])}`);
        await new Promise<void>((resolve) => clock.after(LOOK_MS, () => resolve()));
      }
    },
  };
  try {
    await (behaviour.story ?? toItsEnd)(run);
    return {
      pod: worker.pod,
      status: run.status(),
      events: [...events],
      logs: await logs(),
      history: [...history],
    };
  } finally {
    worker.terminate({ graceSeconds: 0 });
    await worker.whenTerminated();
    await runtime.removePod(worker.uid);
  }
};

const outcome = (
  claim: BehaviourClaim,
  index: number,
  seen: Seen,
): { readonly is: unknown; readonly expected: unknown } => {
  if (!isShell(claim)) return { is: claim.see(seen), expected: claim.is };
  const { prints, in: container = 'main' } = claim;
  const answers = answersOf(seen.logs[container] ?? []);
  return {
    is: answers.get(String(index))?.trimEnd(),
    expected: (typeof prints === 'string' ? prints : prints(seen.pod, seen.status)).trimEnd(),
  };
};

interface ClaimOutcome {
  readonly claim: string;
  readonly is: unknown;
  readonly expected: unknown;
}

/** What came of every claim of a behaviour; `isAsked` leaves out what a runtime cannot show. */
const runBehaviour = async (
  node: BehaviourNode,
  behaviour: Behaviour,
  isAsked: (claim: ClaimBase) => boolean = () => true,
): Promise<readonly ClaimOutcome[]> => {
  const claims = behaviour.claims.filter(isAsked);
  const seen = await runPod(node, { ...behaviour, claims });
  return claims.map((claim, index) => ({ claim: claim.claim, ...outcome(claim, index, seen) }));
};

/** Starts every behaviour, a bounded number at a time; each is there as soon as it has ended. */
export const runBehaviours = (
  node: BehaviourNode,
  behaviours: readonly Behaviour[],
  options: { readonly podsMax: number; readonly isAsked?: (claim: ClaimBase) => boolean },
): ReadonlyMap<string, Promise<readonly ClaimOutcome[]>> => {
  const running = new Set<Promise<unknown>>();
  let turn: Promise<void> = Promise.resolve();
  return new Map(
    behaviours.map((behaviour) => {
      const started = turn.then(async () => {
        while (running.size >= options.podsMax) await Promise.race(running);
        const run = runBehaviour(node, behaviour, options.isAsked);
        const settled: Promise<unknown> = run.then(
          () => running.delete(settled),
          () => running.delete(settled),
        );
        running.add(settled);
        return { run };
      });
      turn = started.then(() => undefined);
      const outcomes = started.then(({ run }) => run);
      outcomes.catch(() => undefined);
      return [behaviour.name, outcomes] as const;
    }),
  );
};
