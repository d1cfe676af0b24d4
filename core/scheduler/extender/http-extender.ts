import { ReasonError } from '../../base/errors.ts';
import type { ExtenderConfig } from '../config/configuration.ts';
import type { Node, Pod } from '../model/objects.ts';
import type { Extender, ExtenderFilterResult, Victims } from '../framework/extender.ts';

export type ExtenderFailure = 'BadAnswer' | 'Refused';

/** Sends one POST and answers with its JSON body; throws for anything but 200. */
export type PostJson = (url: string, body: unknown, timeoutMs: number) => Promise<unknown>;

const TIMEOUT_MS = 5000;

interface FilterAnswer {
  readonly nodes?: { readonly items?: readonly Node[] } | null;
  readonly nodenames?: readonly string[] | null;
  readonly failedNodes?: Readonly<Record<string, string>> | null;
  readonly failedAndUnresolvableNodes?: Readonly<Record<string, string>> | null;
  readonly error?: string;
}

interface PreemptionAnswer {
  readonly nodeNameToMetaVictims?: Readonly<
    Record<
      string,
      { readonly pods?: readonly { readonly uid?: string }[]; readonly numPDBViolations?: number }
    >
  > | null;
}

const refused = (name: string, message: string): ReasonError<ExtenderFailure> =>
  new ReasonError('Refused', `extender ${name} failed: ${message}`);

const nameOf = ({ metadata }: Node): string => metadata.name ?? '';

/** Resources that the pod asks for in any container, in requests or limits. */
const asksForAny = ({ spec }: Pod, resources: ReadonlySet<string>): boolean =>
  [...(spec.initContainers ?? []), ...spec.containers].some(({ resources: asked }) =>
    [asked?.requests, asked?.limits].some((list) =>
      Object.keys(list ?? {}).some((name) => resources.has(name)),
    ),
  );

/** Upstream's extender protocol (k8s.io/kube-scheduler/extender/v1) over JSON. */
export const httpExtender = (config: ExtenderConfig, post: PostJson): Extender => {
  const name = config.urlPrefix;
  const managed = new Set(config.managedResources?.map((resource) => resource.name));
  const timeoutMs = config.httpTimeoutMs || TIMEOUT_MS;
  const call = (verb: string, body: unknown): Promise<unknown> =>
    post(`${config.urlPrefix.replace(/\/$/, '')}/${verb}`, body, timeoutMs);
  const argsFor = (pod: Pod, nodes: readonly Node[]): unknown =>
    config.nodeCacheCapable
      ? { pod, nodenames: nodes.map(nameOf) }
      : { pod, nodes: { apiVersion: 'v1', kind: 'NodeList', items: nodes } };
  const isBinder = Boolean(config.bindVerb);
  return {
    name,
    isIgnorable: config.ignorable ?? false,
    isFilter: Boolean(config.filterVerb),
    isPrioritizer: Boolean(config.prioritizeVerb),
    isBinder,
    supportsPreemption: Boolean(config.preemptVerb),
    weight: config.weight ?? 1,
    isInterested: (pod) => managed.size === 0 || asksForAny(pod, managed),
    async filter(pod, nodes): Promise<ExtenderFilterResult> {
      const answer = (await call(config.filterVerb ?? '', argsFor(pod, nodes))) as FilterAnswer;
      if (answer.error) throw refused(name, answer.error);
      const asked = new Set(nodes.map(nameOf));
      const nodeNames =
        config.nodeCacheCapable && answer.nodenames ? answer.nodenames : answer.nodes?.items?.map(nameOf);
      for (const one of nodeNames ?? [])
        if (!asked.has(one))
          throw new ReasonError<ExtenderFailure>(
            'BadAnswer',
            `extender "${name}" claims a filtered node "${one}" which is not found in the input node list`,
          );
      return {
        nodeNames: nodeNames ?? [],
        failed: new Map(Object.entries(answer.failedNodes ?? {})),
        failedAndUnresolvable: new Map(Object.entries(answer.failedAndUnresolvableNodes ?? {})),
      };
    },
    async prioritize(pod, nodes) {
      const answer = (await call(config.prioritizeVerb ?? '', argsFor(pod, nodes))) as
        readonly { readonly host: string; readonly score: number }[] | null;
      return new Map((answer ?? []).map(({ host, score }) => [host, score]));
    },
    async bind({ metadata }, nodeName) {
      const answer = (await call(config.bindVerb ?? '', {
        podName: metadata.name,
        podNamespace: metadata.namespace,
        podUID: metadata.uid,
        node: nodeName,
      })) as { readonly error?: string } | null;
      if (answer?.error) throw refused(name, answer.error);
    },
    async processPreemption(pod, victims) {
      const meta = ({ pods, pdbViolationCount }: Victims): unknown => ({
        pods: pods.map(({ metadata }) => ({ uid: metadata.uid })),
        numPDBViolations: pdbViolationCount,
      });
      const full = ({ pods, pdbViolationCount }: Victims): unknown => ({
        pods,
        numPDBViolations: pdbViolationCount,
      });
      const entries = [...victims];
      const body = config.nodeCacheCapable
        ? { pod, nodeNameToMetaVictims: Object.fromEntries(entries.map(([node, one]) => [node, meta(one)])) }
        : { pod, nodeNameToVictims: Object.fromEntries(entries.map(([node, one]) => [node, full(one)])) };
      const answer = (await call(config.preemptVerb ?? '', body)) as PreemptionAnswer;
      return new Map(
        Object.entries(answer.nodeNameToMetaVictims ?? {}).map(([node, { pods, numPDBViolations }]) => {
          const uids = new Set(pods?.map(({ uid }) => uid));
          const known = victims.get(node)?.pods.filter(({ metadata }) => uids.has(metadata.uid)) ?? [];
          return [node, { pods: known, pdbViolationCount: numPDBViolations ?? 0 }] as const;
        }),
      );
    },
  };
};
