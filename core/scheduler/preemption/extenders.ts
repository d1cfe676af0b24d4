import type { Victims } from '../framework/extender.ts';
import type { Handle } from '../framework/handle.ts';
import type { PodInfo } from '../model/pod-info.ts';
import type { Candidate } from './candidates.ts';

/** Extenders may take candidates out and change victims, each after the other. */
export const filterByPreemptingExtenders = async (
  { extenders, log }: Handle,
  pod: PodInfo,
  candidates: readonly Candidate[],
): Promise<readonly Candidate[]> => {
  let left = candidates;
  for (const extender of extenders) {
    if (!extender.supportsPreemption || !extender.isInterested(pod.pod) || left.length === 0) continue;
    const proposed = new Map<string, Victims>(
      left.map(({ nodeName, victims, pdbViolationCount }) => [
        nodeName,
        { pods: victims.map((victim) => victim.pod), pdbViolationCount },
      ]),
    );
    try {
      const answer = await extender.processPreemption(pod.pod, proposed);
      const before = left;
      left = [...answer].flatMap(([nodeName, { pods, pdbViolationCount }]) => {
        const candidate = before.find((one) => one.nodeName === nodeName);
        const uids = new Set(pods.map(({ metadata }) => metadata.uid));
        const victims = candidate?.victims.filter(({ uid }) => uids.has(uid)) ?? [];
        if (victims.length > 0) return [{ nodeName, victims, pdbViolationCount }];
        if (extender.isIgnorable) return [];
        throw new Error(`expected at least one victim pod on node "${nodeName}"`);
      });
    } catch (error) {
      if (!extender.isIgnorable) throw error;
      log.write('warn', 'Skipped extender as it returned error and has ignorable flag set', {
        extender: extender.name,
        error,
      });
    }
  }
  return left;
};
