import { isNotFound } from '../../api/meta/index.ts';
import type { Handle } from '../framework/handle.ts';
import type { PodInfo } from '../model/pod-info.ts';
import { DEFAULT_PREEMPTION } from '../framework/plugin-names.ts';
import type { Candidate } from './candidates.ts';

/**
 * Evicts victims while the scheduler continues with other pods. The preemptor stays out of the queue until all
 * victims but the last are gone: the deletion of the last one is the event that brings it back.
 */
export class Evictions {
  readonly #handle: Handle;
  readonly #running = new Set<string>();

  constructor(handle: Handle) {
    this.#handle = handle;
  }

  isRunning(preemptorUid: string): boolean {
    return this.#running.has(preemptorUid);
  }

  start(preemptor: PodInfo, candidate: Candidate): void {
    const { log, metrics } = this.#handle;
    metrics.preemptionVictims.observe(candidate.victims.length);
    this.#running.add(preemptor.uid);
    void this.#run(preemptor, candidate).catch((error: unknown) => {
      log.write('error', 'Error occurred during async preemption', { pod: preemptor.key, error });
      this.#running.delete(preemptor.uid);
      this.#handle.activate([preemptor.uid]);
    });
  }

  async #run(preemptor: PodInfo, { victims, nodeName }: Candidate): Promise<void> {
    const last = victims.at(-1);
    await Promise.all(victims.slice(0, -1).map((victim) => this.#evict(preemptor, victim, nodeName)));
    await this.#clearLesserNominations(preemptor, nodeName);
    this.#running.delete(preemptor.uid);
    if (last) await this.#evict(preemptor, last, nodeName);
  }

  async #evict(preemptor: PodInfo, victim: PodInfo, nodeName: string): Promise<void> {
    const { api, clock } = this.#handle;
    if (this.#handle.waitingPods().some(({ uid }) => uid === victim.uid)) {
      this.#handle.rejectWaitingPod(victim.uid, DEFAULT_PREEMPTION, 'preempted');
      return;
    }
    if (victim.terminating) return;
    try {
      await api.patchPodStatus(victim.pod, {
        condition: {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'PreemptionByScheduler',
          message: `${preemptor.pod.spec.schedulerName ?? 'default-scheduler'}: preempting to accommodate a higher priority pod`,
          lastTransitionTime: new Date(clock.nowMs()).toISOString().replace(/\.\d+Z$/, 'Z'),
        },
      });
      await api.deletePod(victim.pod);
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    api.event({
      pod: victim.pod,
      related: preemptor.pod,
      type: 'Normal',
      reason: 'Preempted',
      action: 'Preempting',
      note: `Preempted by pod ${preemptor.uid} on node ${nodeName}`,
    });
  }

  /** Less important pods that were promised this room have to look for another. */
  async #clearLesserNominations(preemptor: PodInfo, nodeName: string): Promise<void> {
    const { api, log, nominations } = this.#handle;
    const lesser = nominations.podsOn(nodeName).filter(({ priority }) => priority < preemptor.priority);
    for (const info of lesser)
      try {
        await api.patchPodStatus(info.pod, { nominatedNodeName: '' });
      } catch (error) {
        log.write('warn', 'Cannot clear NominatedNodeName field', { pod: info.key, error });
      }
  }
}
