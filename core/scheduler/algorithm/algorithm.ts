import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { EXTENDER_PLUGIN_NAME, type Extender } from '../framework/extender.ts';
import type { CycleState } from '../framework/cycle-state.ts';
import type { Diagnosis } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import { NodeStatuses } from '../framework/node-statuses.ts';
import type { ScoreTable } from '../framework/score-table.ts';
import { failed, isRejected, statusMessage, unresolvable, type Status } from '../framework/status.ts';
import type { PodInfo } from '../model/pod-info.ts';
import { filterByExtenders, scoreByExtenders } from './extenders.ts';
import { feasibleNodesToFind } from './search-size.ts';
import { selectHost } from './select-host.ts';

export interface Placed {
  readonly kind: 'placed';
  readonly nodeName: string;
  readonly slot: number;
  readonly evaluatedCount: number;
  readonly feasible: Int32Array;
  /** Undefined when only one node was feasible: then nothing is scored. */
  readonly scores: ScoreTable | undefined;
  readonly diagnosis: Diagnosis;
}
export interface Unplaced {
  readonly kind: 'unschedulable';
  readonly diagnosis: Diagnosis;
}
export interface Failed {
  readonly kind: 'error';
  readonly status: Status;
}
export type Decision = Placed | Unplaced | Failed;

export interface AlgorithmOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly extenders: readonly Extender[];
  readonly percentageOfNodesToScore: number;
}

interface Found {
  readonly feasible: Int32Array;
  readonly diagnosis: Diagnosis;
  readonly error?: Status;
}

/** Chooses a node for one pod after another. It writes nothing but its own place in the round of nodes. */
export class Algorithm {
  readonly #options: AlgorithmOptions;
  #nextStartIndex = 0;

  constructor(options: AlgorithmOptions) {
    this.#options = options;
  }

  get nextStartIndex(): number {
    return this.#nextStartIndex;
  }

  /** `keepRaw` keeps raw scores for an explanation. `moveStart` is false for a question without consequence. */
  async decide(
    framework: Framework,
    cycle: CycleState,
    pod: PodInfo,
    options: { readonly keepRaw: boolean; readonly moveStart: boolean },
  ): Promise<Decision> {
    const { extenders, random, log } = this.#options;
    const found = this.#find(framework, cycle, pod, options.moveStart);
    if (found.error) return { kind: 'error', status: found.error };
    let { feasible, diagnosis } = found;
    if (extenders.length > 0 && feasible.length > 0) {
      const before = feasible.length;
      try {
        feasible = await filterByExtenders(extenders, cycle, pod, feasible, diagnosis.statuses, log);
      } catch (error) {
        return { kind: 'error', status: failed(EXTENDER_PLUGIN_NAME, messageOf(error), error) };
      }
      if (feasible.length < before)
        diagnosis = {
          ...diagnosis,
          unschedulablePlugins: new Set([...diagnosis.unschedulablePlugins, EXTENDER_PLUGIN_NAME]),
        };
    }
    if (feasible.length === 0) return { kind: 'unschedulable', diagnosis };
    const evaluatedCount = feasible.length + diagnosis.statuses.size;
    const placed = (slot: number, scores: ScoreTable | undefined): Placed => ({
      kind: 'placed',
      nodeName: cycle.snapshot.entry(slot).name,
      slot,
      evaluatedCount,
      feasible,
      scores,
      diagnosis,
    });
    if (feasible.length === 1) return placed(feasible[0]!, undefined);
    const scored = framework.score(cycle, pod, feasible, options.keepRaw);
    if ('code' in scored) return { kind: 'error', status: scored };
    const table = extenders.length > 0 ? await scoreByExtenders(extenders, cycle, pod, scored, log) : scored;
    return placed(selectHost(table, random), table);
  }

  #find(framework: Framework, cycle: CycleState, pod: PodInfo, moveStart: boolean): Found {
    const { snapshot } = cycle;
    const statuses = new NodeStatuses();
    const unschedulablePlugins = new Set<string>();
    const pendingPlugins = new Set<string>();
    const blank = { nodeCount: snapshot.nodeCount, statuses, unschedulablePlugins, pendingPlugins };
    const note = ({ code, plugin }: Status): void => {
      if (plugin === '') return;
      (code === 'Pending' ? pendingPlugins : unschedulablePlugins).add(plugin);
    };
    const { status, nodeNames, pluginsWithNodes } = framework.preFilter(cycle, pod);
    for (const name of pluginsWithNodes) unschedulablePlugins.add(name);
    if (status) {
      const diagnosis = { ...blank, absent: status, preFilterMessage: statusMessage(status) };
      note(status);
      const feasible = new Int32Array(0);
      return isRejected(status) ? { feasible, diagnosis } : { feasible, diagnosis, error: status };
    }
    const diagnosis: Diagnosis = {
      ...blank,
      preFilterMessage: '',
      absent: nodeNames
        ? unresolvable('', `node(s) didn't satisfy plugin(s) [${[...pluginsWithNodes].sort().join(' ')}]`)
        : undefined,
    };
    const nominated = this.#tryNominated(framework, cycle, pod);
    if (nominated) return { feasible: nominated, diagnosis };
    const order = nodeNames
      ? Int32Array.from([...nodeNames].flatMap((name) => snapshot.slotOf(name) ?? []))
      : snapshot.order;
    const search = this.#search(framework, cycle, pod, order, statuses);
    for (const rejection of statuses.histogram().keys()) note(rejection);
    if (moveStart)
      this.#nextStartIndex =
        (this.#nextStartIndex + search.feasible.length + statuses.size) % snapshot.nodeCount;
    return { ...search, diagnosis };
  }

  /** A node that was cleared for the pod is most likely the only one that fits: it is tried alone, first. */
  #tryNominated(framework: Framework, cycle: CycleState, pod: PodInfo): Int32Array | undefined {
    const name = pod.pod.status?.nominatedNodeName;
    const slot = name ? cycle.snapshot.slotOf(name) : undefined;
    if (slot === undefined) return undefined;
    const status = framework.filterWithNominated(framework.activeFilters(cycle), cycle, pod, slot);
    return status ? undefined : Int32Array.of(slot);
  }

  #search(
    framework: Framework,
    cycle: CycleState,
    pod: PodInfo,
    order: Int32Array,
    statuses: NodeStatuses,
  ): { readonly feasible: Int32Array; readonly error?: Status } {
    const { clock, extenders, percentageOfNodesToScore } = this.#options;
    const fromMs = clock.monotonicMs();
    const enough =
      framework.at('Score').length === 0 && extenders.every((one) => !one.isFilter && !one.isPrioritizer)
        ? 1
        : feasibleNodesToFind(order.length, framework.percentageOfNodesToScore ?? percentageOfNodesToScore);
    const feasible = new Int32Array(enough);
    const filters = framework.activeFilters(cycle);
    let count = 0;
    for (let step = 0; step < order.length && count < enough; step += 1) {
      const slot = order[(this.#nextStartIndex + step) % order.length]!;
      const status = framework.filterWithNominated(filters, cycle, pod, slot);
      if (!status) {
        feasible[count] = slot;
        count += 1;
      } else if (status.code === 'Error') {
        framework.observeFilter(fromMs, 'Error');
        return { feasible: feasible.subarray(0, count), error: status };
      } else statuses.add(slot, status);
    }
    framework.observeFilter(fromMs, 'Success');
    return { feasible: feasible.subarray(0, count) };
  }
}
