import { shell } from '../base/shell-words.ts';
import type { V1NetworkPolicy, V1Pod, V1Service } from '../api/schema/index.ts';
import { selectorFromObject, selectorOrNothing } from '../api/selector/index.ts';
import { say } from '../contract/index.ts';
import { asPolicyPod, closedBy, type Protocol } from '../network-policy/index.ts';
import { idOf, metaOf, reasonOf, type GraphBuilder } from './graph-builder.ts';
import { isLive, podsOf } from './network.ts';

const DNS_PORT = 53;

/** One pod of each workload: pods of one template are treated alike. */
const samples = (b: GraphBuilder, pods: readonly V1Pod[]): ReadonlyMap<string, V1Pod> => {
  const found = new Map<string, V1Pod>();
  for (const pod of pods) {
    const root = b.rootOf(pod, 'Pod');
    if (!found.has(root)) found.set(root, pod);
  }
  return found;
};

const targetOf = (targetPort: string | number | undefined, port: number, pod: V1Pod): number | undefined => {
  if (typeof targetPort !== 'string') return targetPort ?? port;
  return (pod.spec?.containers ?? [])
    .flatMap(({ ports }) => ports ?? [])
    .find(({ name }) => name === targetPort)?.containerPort;
};

const explainIngress = (b: GraphBuilder, service: V1Service, policies: readonly V1NetworkPolicy[]): void => {
  const { namespace, name } = metaOf(service);
  if (Object.keys(service.spec?.selector ?? {}).length === 0) return;
  for (const [root, pod] of samples(b, podsOf(b, service)))
    for (const { port, protocol, targetPort } of service.spec?.ports ?? []) {
      const target = targetOf(targetPort, port, pod);
      if (target === undefined || pod.spec?.hostNetwork === true) continue;
      const closing = closedBy(policies, asPolicyPod(pod), {
        direction: 'Ingress',
        port: target,
        servicePort: port,
        protocol: (protocol ?? 'TCP') as Protocol,
      });
      for (const policy of closing)
        b.edge(idOf('NetworkPolicy', namespace, policy), root, 'isolates', [
          reasonOf(
            'error',
            say('graph.policyBlocksPort', { policies: policy, port: String(target), service: name }),
            say('graph.fix.policyBlocksPort', { port: String(target) }),
            shell`kubectl -n ${namespace} edit networkpolicy ${policy}`,
          ),
        ]);
    }
};

/** NetworkPolicies and what they keep from the pods they select. */
export const addPolicies = (b: GraphBuilder): void => {
  const policies = b.all<V1NetworkPolicy>('NetworkPolicy');
  if (policies.length === 0) return;
  const pods = b.all<V1Pod>('Pod').filter(isLive);
  for (const policy of policies) {
    const { namespace, name } = metaOf(policy);
    const selector = selectorOrNothing(() => selectorFromObject(policy.spec?.podSelector ?? {}));
    const selected = pods.filter(
      (pod) => metaOf(pod).namespace === namespace && selector.matches(pod.metadata?.labels ?? {}),
    );
    b.figures(idOf('NetworkPolicy', namespace, name), (policy.spec?.policyTypes ?? ['Ingress']).join(', '));
    for (const root of samples(b, selected).keys())
      b.edge(idOf('NetworkPolicy', namespace, name), root, 'isolates');
  }
  for (const [root, pod] of samples(b, pods)) {
    const { namespace } = metaOf(pod);
    if (pod.spec?.hostNetwork === true) continue;
    const closing = closedBy(policies, asPolicyPod(pod), {
      direction: 'Egress',
      port: DNS_PORT,
      protocol: 'UDP',
    });
    for (const policy of closing)
      b.edge(idOf('NetworkPolicy', namespace, policy), root, 'isolates', [
        reasonOf(
          'warning',
          say('graph.policyBlocksDns', { policies: policy }),
          say('graph.fix.policyBlocksDns'),
          shell`kubectl -n ${namespace} edit networkpolicy ${policy}`,
        ),
      ]);
  }
  for (const service of b.all<V1Service>('Service')) explainIngress(b, service, policies);
};
