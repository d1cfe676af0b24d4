import { ACTION } from '../../framework/cluster-event.ts';
import { stateKey } from '../../framework/cycle-state.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { normalizeByMax } from '../../framework/score-table.ts';
import { unresolvable, type Status } from '../../framework/status.ts';
import type { Node, Pod, Taint, Toleration } from '../../model/objects.ts';
import { findUntolerated, isTolerated } from '../../model/tolerations.ts';
import { TAINT_TOLERATION } from '../../framework/plugin-names.ts';

/** What the pod thinks of each taint set of the snapshot, found out on the first node that has it. */
type Verdicts = (Status | null | undefined)[];
const VERDICTS = stateKey<Verdicts>('FilterTaintToleration');

const matters = (pod: Pod, node: unknown): boolean =>
  findUntolerated((node as Node).spec?.taints ?? [], pod.spec.tolerations) === undefined;

const countDisliked = (taints: readonly Taint[], tolerations: readonly Toleration[]): number =>
  taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(tolerations, taint)).length;

export const taintToleration = (options: { readonly taintsInStatus: boolean }): Plugin => {
  const rejection = (taint: Taint): Status =>
    unresolvable(
      TAINT_TOLERATION,
      options.taintsInStatus
        ? `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`
        : 'node(s) had untolerated taint(s)',
    );
  return {
    name: TAINT_TOLERATION,
    filter(cycle, { pod }, slot) {
      const set = cycle.snapshot.columns.taintSet[slot]!;
      if (set === 0) return undefined;
      let verdicts = cycle.read(VERDICTS);
      if (!verdicts) cycle.write(VERDICTS, (verdicts = []));
      let verdict = verdicts[set];
      if (verdict === undefined) {
        const taint = findUntolerated(cycle.snapshot.taintSets.taints(set), pod.spec.tolerations);
        verdicts[set] = verdict = taint ? rejection(taint) : null;
      }
      return verdict ?? undefined;
    },
    score(cycle, { pod }, slots, scores) {
      const { taintSets, columns } = cycle.snapshot;
      const tolerations = (pod.spec.tolerations ?? []).filter(
        ({ effect }) => !effect || effect === 'PreferNoSchedule',
      );
      const counts = new Map<number, number>([[0, 0]]);
      for (let at = 0; at < slots.length; at += 1) {
        const set = columns.taintSet[slots[at]!]!;
        let count = counts.get(set);
        if (count === undefined) counts.set(set, (count = countDisliked(taintSets.taints(set), tolerations)));
        scores[at] = count;
      }
      return undefined;
    },
    normalizeScores: (_cycle, _pod, _slots, scores) => normalizeByMax(scores, { reverse: true }),
    eventsToRegister: () => [
      {
        resource: 'Node',
        action: ACTION.add | ACTION.updateNodeTaint,
        hint: (pod, before, after) =>
          matters(pod, after) && !(before && matters(pod, before)) ? 'Queue' : 'QueueSkip',
      },
      { resource: 'TargetPod', action: ACTION.updatePodToleration },
    ],
  };
};
