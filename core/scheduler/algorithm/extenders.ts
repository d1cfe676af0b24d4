import { EXTENDER_SCORE_MAX, type Extender } from '../framework/extender.ts';
import type { CycleState } from '../framework/cycle-state.ts';
import type { NodeStatuses } from '../framework/node-statuses.ts';
import { SCORE_MAX } from '../framework/plugin.ts';
import type { ScoreTable } from '../framework/score-table.ts';
import { unresolvable, unschedulable } from '../framework/status.ts';
import type { Log } from '../../base/log.ts';
import type { Node } from '../model/objects.ts';
import type { PodInfo } from '../model/pod-info.ts';

const nodesOf = (cycle: CycleState, slots: Int32Array): readonly Node[] =>
  [...slots].map((slot) => cycle.snapshot.entry(slot).node);

/** Each extender sees what the one before left. Throws what one that may not be ignored threw. */
export const filterByExtenders = async (
  extenders: readonly Extender[],
  cycle: CycleState,
  pod: PodInfo,
  slots: Int32Array,
  statuses: NodeStatuses,
  log: Log,
): Promise<Int32Array> => {
  let left = slots;
  for (const extender of extenders) {
    if (left.length === 0) break;
    if (!extender.isFilter || !extender.isInterested(pod.pod)) continue;
    try {
      const result = await extender.filter(pod.pod, nodesOf(cycle, left));
      const kept = new Set(result.nodeNames.map((name) => cycle.snapshot.slotOf(name)));
      for (const slot of left) {
        if (kept.has(slot)) continue;
        const { name } = cycle.snapshot.entry(slot);
        const hard = result.failedAndUnresolvable.get(name);
        const soft = result.failed.get(name);
        if (hard !== undefined) statuses.add(slot, unresolvable(extender.name, hard));
        else if (soft !== undefined) statuses.add(slot, unschedulable(extender.name, soft));
      }
      left = left.filter((slot) => kept.has(slot));
    } catch (error) {
      if (!extender.isIgnorable) throw error;
      log.write('info', 'Skipping extender as it returned error and has ignorable flag set', {
        extender: extender.name,
        error,
      });
    }
  }
  return left;
};

/** A failing prioritizer gives no scores; the others decide. */
export const scoreByExtenders = async (
  extenders: readonly Extender[],
  cycle: CycleState,
  pod: PodInfo,
  table: ScoreTable,
  log: Log,
): Promise<ScoreTable> => {
  const asked = extenders.filter((extender) => extender.isPrioritizer && extender.isInterested(pod.pod));
  if (asked.length === 0) return table;
  const nodes = nodesOf(cycle, table.slots);
  const answers = await Promise.allSettled(asked.map((extender) => extender.prioritize(pod.pod, nodes)));
  const total = table.total.slice();
  const plugins = [...table.plugins];
  for (const [index, answer] of answers.entries()) {
    const extender = asked[index]!;
    if (answer.status === 'rejected') {
      log.write('warn', "Failed to run extender's priority function. No score given by this extender.", {
        extender: extender.name,
        error: answer.reason as unknown,
      });
      continue;
    }
    const raw = Float64Array.from(nodes, (node) => answer.value.get(node.metadata.name ?? '') ?? 0);
    const normalised = raw.map((score) => score * (SCORE_MAX / EXTENDER_SCORE_MAX));
    for (let at = 0; at < total.length; at += 1) total[at]! += normalised[at]! * extender.weight;
    plugins.push({ name: extender.name, weight: extender.weight, raw, normalised });
  }
  return { slots: table.slots, plugins, total };
};
