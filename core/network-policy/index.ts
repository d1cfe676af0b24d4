export { closedBy, evaluate } from './evaluate.ts';
export { explainVerdict } from './explain.ts';
export type * from './policy.ts';
export { asPolicyPod, policyPod } from './policy-pod.ts';
