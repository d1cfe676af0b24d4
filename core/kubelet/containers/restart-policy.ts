import type { V1Container, V1Pod } from '../../api/schema/index.ts';

/** Whether a container that has ended with `exitCode` is started again (rules first, then its own policy, then the pod's). */
export const shouldRestart = (pod: V1Pod, container: V1Container, exitCode: number): boolean => {
  for (const rule of container.restartPolicyRules ?? []) {
    const { operator, values = [] } = rule.exitCodes ?? { operator: '' };
    const matches =
      (operator === 'In' && values.includes(exitCode)) ||
      (operator === 'NotIn' && !values.includes(exitCode));
    if (matches) return rule.action === 'Restart';
  }
  switch (container.restartPolicy ?? pod.spec?.restartPolicy ?? 'Always') {
    case 'Never':
      return false;
    case 'OnFailure':
      return exitCode !== 0;
    default:
      return true;
  }
};

/** For a container that failed a probe and has no exit code yet. */
export const shouldRestartAfterProbe = (pod: V1Pod, container: V1Container): boolean =>
  (container.restartPolicy ?? pod.spec?.restartPolicy) !== 'Never';
