import { quantityFrom, ZERO } from '../../api/quantity/index.ts';
import { matchesNodeExpression, selectorFromSet } from '../../api/selector/index.ts';
import type { V1NodeSelectorTerm, V1Pod } from '../../api/schema/index.ts';
import { podRequests, type Amounts } from './pod-requests.ts';
import type { PodVerdict } from './pod-worker.ts';

export interface AdmissionInput {
  readonly pod: V1Pod;
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** False: the machine enforces no profiles; undefined: there is no machine. */
  readonly hasAppArmor?: boolean | undefined;
  /** Of the pods that run here and count. */
  readonly usedBy: readonly Amounts[];
}

const NAMES: Readonly<Record<string, string>> = { 'ephemeral-storage': 'OutOfephemeral-storage' };

const matchesTerm = (term: V1NodeSelectorTerm, input: AdmissionInput): boolean => {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  return (
    matchExpressions.every((expression) => matchesNodeExpression(expression, input.labels[expression.key])) &&
    matchFields.every((expression) =>
      matchesNodeExpression(expression, expression.key === 'metadata.name' ? input.nodeName : undefined),
    )
  );
};

export const matchesNode = (input: AdmissionInput): boolean => {
  const { nodeSelector, affinity } = input.pod.spec ?? {};
  if (nodeSelector && !selectorFromSet(nodeSelector).matches(input.labels)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || required.nodeSelectorTerms.some((term) => matchesTerm(term, input));
};

/** CPU is counted in thousandths, everything else in units, as the message shows them. */
const counted = (name: string, amount: ReturnType<typeof quantityFrom>): bigint =>
  name === 'cpu' ? amount.milliValue() : amount.value();

/** Which resource a pod asks for too much of. */
export const lacking = (
  input: Pick<AdmissionInput, 'pod' | 'allocatable' | 'usedBy'>,
): PodVerdict | undefined => {
  const say = (name: string, requested: bigint, used: bigint, capacity: bigint): PodVerdict => ({
    reason: NAMES[name] ?? `OutOf${name}`,
    message: `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  });
  const podsMax = quantityFrom(input.allocatable['pods'] ?? '110').value();
  const podsUsed = BigInt(input.usedBy.length);
  if (podsUsed + 1n > podsMax) return say('pods', 1n, podsUsed, podsMax);
  for (const [name, amount] of podRequests(input.pod)) {
    const capacity = input.allocatable[name];
    if (amount.isZero || capacity === undefined) continue;
    const used = input.usedBy.reduce((sum, amounts) => sum.add(amounts.get(name) ?? ZERO), ZERO);
    const free = quantityFrom(capacity).subtract(used);
    if (amount.compare(free) > 0)
      return say(name, counted(name, amount), counted(name, used), counted(name, quantityFrom(capacity)));
  }
  return undefined;
};

/** A profile of AppArmor that no one would enforce. */
const wantsAppArmor = ({ spec }: V1Pod): boolean =>
  [
    spec?.securityContext,
    ...[...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(
      ({ securityContext }) => securityContext,
    ),
  ].some(
    (context) => context?.appArmorProfile !== undefined && context.appArmorProfile.type !== 'Unconfined',
  );

/** Why a pod that was bound to this node cannot run here; undefined when it can. */
export const refusal = (input: AdmissionInput): PodVerdict | undefined =>
  (input.hasAppArmor === false && wantsAppArmor(input.pod)
    ? { reason: 'AppArmor', message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' }
    : undefined) ??
  lacking(input) ??
  (matchesNode(input)
    ? undefined
    : {
        reason: 'NodeAffinity',
        message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
      });
