export type * from './connecting.ts';
export { closedBy, evaluate } from './evaluate.ts';
export { explainVerdict } from './explain.ts';
export { inOrder, packetRules, type PacketPod, type PacketRulesInput } from './packet-rules.ts';
export type * from './policy.ts';
export { asPolicyPod, policyPod } from './policy-pod.ts';
