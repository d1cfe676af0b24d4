import { isIP } from 'node:net';
import { ReasonError } from '../../base/errors.ts';
import { NAMESPACE, NETWORK_POLICY, POD, type Client, type Pod, type Stored } from '../../client/index.ts';
import {
  evaluate,
  explainVerdict,
  policyPod,
  type Connection,
  type PolicyEnd,
  type Protocol,
  type PolicyVerdict,
} from '../../network-policy/index.ts';

export interface ReachQuestion {
  /** `namespace/pod`, a pod of `default`, or an address. */
  readonly from: string;
  readonly to: string;
  readonly port: number;
  readonly protocol: Protocol;
}

export interface ReachAnswer {
  readonly connection: Connection;
  readonly verdict: PolicyVerdict;
  readonly lines: readonly string[];
}

const addressesOf = ({ status }: Stored<Pod>): readonly string[] =>
  (status?.podIPs ?? []).map(({ ip }) => ip);

const endOf = (text: string, pods: readonly Stored<Pod>[]): PolicyEnd => {
  if (isIP(text) !== 0) {
    const pod = pods
      .filter((one) => addressesOf(one).includes(text))
      .flatMap((one) => policyPod(one) ?? [])[0];
    return { address: text, pod };
  }
  const [first = '', second] = text.split('/');
  const [namespace, name] = second === undefined ? ['default', first] : [first, second];
  const found = pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (!found)
    throw new ReasonError(
      'NotFound',
      `pod "${name}" not found in namespace ${namespace}; list pods with kubectl get pods -A`,
    );
  const address = found.status?.podIP;
  if (!address) throw new ReasonError('NotReady', `pod ${namespace}/${name} has no address yet`);
  return { address, pod: policyPod(found) };
};

/** Whether one end may connect to another by the NetworkPolicies of a cluster, and which of them decide. */
export const checkReach = async (client: Client, question: ReachQuestion): Promise<ReachAnswer> => {
  const [pods, namespaces, policies] = await Promise.all([
    client.resource(POD).list(),
    client.resource(NAMESPACE).list(),
    client.resource(NETWORK_POLICY).list(),
  ]);
  const connection: Connection = {
    from: endOf(question.from, pods.items),
    to: endOf(question.to, pods.items),
    port: question.port,
    protocol: question.protocol,
  };
  const verdict = evaluate(connection, {
    policiesOf: (namespace) => policies.items.filter(({ metadata }) => metadata.namespace === namespace),
    namespaceLabels: (name) => {
      const found = namespaces.items.find(({ metadata }) => metadata.name === name);
      return found && (found.metadata.labels ?? {});
    },
  });
  return { connection, verdict, lines: explainVerdict(connection, verdict) };
};
