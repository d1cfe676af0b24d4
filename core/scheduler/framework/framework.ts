import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { SchedulerMetrics } from '../metrics/metrics.ts';
import type { PodInfo } from '../model/pod-info.ts';
import type { CycleState } from './cycle-state.ts';
import type { Nominations } from './handle.ts';
import {
  EXTENSION_POINTS,
  SCORE_MAX,
  takesPart,
  type ExtensionPoint,
  type Plugin,
  type PostFilterResult,
  type With,
} from './plugin.ts';
import type { Diagnosis } from './fit-error.ts';
import type { ScoreTable } from './score-table.ts';
import { failed, statusCode, unresolvable, type Status, type StatusCode } from './status.ts';

export interface ProfilePlugin {
  readonly plugin: Plugin;
  readonly weight: number;
}

export type PluginsByPoint = Readonly<Record<ExtensionPoint, readonly ProfilePlugin[]>>;

export interface FrameworkOptions {
  readonly profileName: string;
  readonly plugins: PluginsByPoint;
  readonly clock: Clock;
  readonly metrics: SchedulerMetrics;
  readonly nominations: Nominations;
  /** Undefined takes the scheduler's; 0 adapts to the number of nodes. */
  readonly percentageOfNodesToScore?: number;
}

export interface PreFilterOutcome {
  readonly status: Status | undefined;
  readonly nodeNames: ReadonlySet<string> | undefined;
  readonly pluginsWithNodes: ReadonlySet<string>;
}

const list = (names: ReadonlySet<string>): string => `[${[...names].sort().join(' ')}]`;

/** The plugins of one profile, and how the extension points are run with them. */
export class Framework {
  readonly profileName: string;
  readonly percentageOfNodesToScore: number | undefined;
  readonly plugins: PluginsByPoint;
  readonly #clock: Clock;
  readonly #metrics: SchedulerMetrics;
  readonly #nominations: Nominations;
  readonly #of: { readonly [Point in ExtensionPoint]: readonly With<Point>[] };
  readonly #weightOf: ReadonlyMap<string, number>;

  constructor(options: FrameworkOptions) {
    this.profileName = options.profileName;
    this.percentageOfNodesToScore = options.percentageOfNodesToScore;
    this.plugins = options.plugins;
    this.#clock = options.clock;
    this.#metrics = options.metrics;
    this.#nominations = options.nominations;
    this.#weightOf = new Map(options.plugins.Score.map(({ plugin, weight }) => [plugin.name, weight]));
    const of: Partial<Record<ExtensionPoint, readonly Plugin[]>> = {};
    for (const point of EXTENSION_POINTS)
      of[point] = options.plugins[point]
        .map(({ plugin }) => plugin)
        .filter((plugin) => takesPart(plugin, point));
    this.#of = of as { readonly [Point in ExtensionPoint]: readonly With<Point>[] };
  }

  at<Point extends ExtensionPoint>(point: Point): readonly With<Point>[] {
    return this.#of[point];
  }

  /** Every plugin of the profile once. */
  all(): readonly Plugin[] {
    return [...new Set(EXTENSION_POINTS.flatMap((point) => this.plugins[point].map(({ plugin }) => plugin)))];
  }

  #observe(point: string, fromMs: number, code: StatusCode): void {
    this.#metrics.extensionPointDuration
      .labels(point, code, this.profileName)
      .observe((this.#clock.monotonicMs() - fromMs) / 1000);
  }

  preEnqueue(pod: PodInfo): Status | undefined {
    for (const plugin of this.#of.PreEnqueue) {
      const status = plugin.preEnqueue(pod.pod);
      if (status) return status;
    }
    return undefined;
  }

  preFilter(cycle: CycleState, pod: PodInfo): PreFilterOutcome {
    const fromMs = this.#clock.monotonicMs();
    const outcome = this.#preFilter(cycle, pod);
    this.#observe('PreFilter', fromMs, statusCode(outcome.status));
    return outcome;
  }

  #preFilter(cycle: CycleState, pod: PodInfo): PreFilterOutcome {
    const pluginsWithNodes = new Set<string>();
    let nodeNames: ReadonlySet<string> | undefined;
    let rejection: Status | undefined;
    for (const plugin of this.#of.PreFilter) {
      const result = plugin.preFilter(cycle, pod);
      const status = result?.status;
      if (status?.code === 'Skip') {
        cycle.skippedFilters.add(plugin.name);
        continue;
      }
      if (status?.code === 'Unschedulable') {
        // Preemption may follow, which needs the state of the remaining plugins.
        rejection = status;
        continue;
      }
      if (status) return { status, nodeNames: undefined, pluginsWithNodes };
      if (!result?.nodeNames) continue;
      pluginsWithNodes.add(plugin.name);
      const found = result.nodeNames;
      nodeNames = nodeNames ? new Set([...nodeNames].filter((name) => found.has(name))) : found;
      if (nodeNames.size > 0) continue;
      const message =
        pluginsWithNodes.size === 1
          ? `node(s) didn't satisfy plugin ${plugin.name}`
          : `node(s) didn't satisfy plugin(s) ${list(pluginsWithNodes)} simultaneously`;
      return { status: unresolvable('', message), nodeNames, pluginsWithNodes };
    }
    return { status: rejection, nodeNames, pluginsWithNodes };
  }

  /** The filters that have something to say in this cycle, in order. */
  activeFilters(cycle: CycleState): readonly With<'Filter'>[] {
    return this.#of.Filter.filter((plugin) => !cycle.skippedFilters.has(plugin.name));
  }

  filter(
    filters: readonly With<'Filter'>[],
    cycle: CycleState,
    pod: PodInfo,
    slot: number,
  ): Status | undefined {
    for (let at = 0; at < filters.length; at += 1) {
      const status = filters[at]!.filter(cycle, pod, slot);
      if (status) return status;
    }
    return undefined;
  }

  /**
   * A node must take the pod beside the pods nominated to it that matter as much or more, and also without
   * them: they may never arrive.
   */
  filterWithNominated(
    filters: readonly With<'Filter'>[],
    cycle: CycleState,
    pod: PodInfo,
    slot: number,
  ): Status | undefined {
    if (this.#nominations.isEmpty) return this.filter(filters, cycle, pod, slot);
    const entry = cycle.snapshot.entry(slot);
    const nominated = this.#nominations
      .podsOn(entry.name)
      .filter(
        (other) => other.priority >= pod.priority && other.uid !== pod.uid && !entry.pods.has(other.uid),
      );
    if (nominated.length > 0) {
      for (const other of nominated) this.addPod(cycle, pod, other, slot);
      const status = this.filter(filters, cycle, pod, slot);
      for (const other of nominated) this.removePod(cycle, pod, other, slot);
      if (status) return status;
    }
    return this.filter(filters, cycle, pod, slot);
  }

  /** Puts a pod on a node on trial: in the snapshot and in what preFilter plugins worked out. */
  addPod(cycle: CycleState, pod: PodInfo, added: PodInfo, slot: number): void {
    cycle.snapshot.addPod(slot, added);
    for (const plugin of this.#of.PreFilter)
      if (!cycle.skippedFilters.has(plugin.name)) plugin.addPod?.(cycle, pod, added, slot);
  }

  removePod(cycle: CycleState, pod: PodInfo, removed: PodInfo, slot: number): void {
    cycle.snapshot.removePod(slot, removed);
    for (const plugin of this.#of.PreFilter)
      if (!cycle.skippedFilters.has(plugin.name)) plugin.removePod?.(cycle, pod, removed, slot);
  }

  /** Plugins are asked in turn until one has found a node, or says that asking on is pointless. */
  async postFilter(cycle: CycleState, pod: PodInfo, diagnosis: Diagnosis): Promise<PostFilterResult> {
    const fromMs = this.#clock.monotonicMs();
    let last: PostFilterResult = { status: undefined };
    const reasons: string[] = [];
    for (const plugin of this.#of.PostFilter) {
      last = await plugin.postFilter(cycle, pod, diagnosis);
      if (!last.status || last.status.code === 'Error') break;
      reasons.push(...last.status.reasons);
      if (last.status.code === 'UnschedulableAndUnresolvable') break;
    }
    this.#observe('PostFilter', fromMs, statusCode(last.status));
    return last.status?.code === 'Unschedulable' ? { ...last, message: reasons.join(', ') } : last;
  }

  score(cycle: CycleState, pod: PodInfo, slots: Int32Array, keepRaw: boolean): ScoreTable | Status {
    const preScoreFromMs = this.#clock.monotonicMs();
    for (const plugin of this.#of.PreScore) {
      const status = plugin.preScore(cycle, pod, slots);
      if (!status) continue;
      if (status.code !== 'Skip') return status;
      cycle.skippedScores.add(plugin.name);
    }
    this.#observe('PreScore', preScoreFromMs, 'Success');
    const scoreFromMs = this.#clock.monotonicMs();
    const total = new Float64Array(slots.length);
    const plugins: ScoreTable['plugins'][number][] = [];
    for (const plugin of this.#of.Score) {
      if (cycle.skippedScores.has(plugin.name)) continue;
      const normalised = new Float64Array(slots.length);
      const status = plugin.score(cycle, pod, slots, normalised);
      if (status) return status;
      const raw = keepRaw && plugin.normalizeScores ? normalised.slice() : normalised;
      plugin.normalizeScores?.(cycle, pod, slots, normalised);
      const weight = this.#weightOf.get(plugin.name) ?? 1;
      for (let at = 0; at < total.length; at += 1) {
        const score = normalised[at]!;
        if (!(score >= 0 && score <= SCORE_MAX))
          return failed(
            plugin.name,
            `plugin "${plugin.name}" returns an invalid score ${score}, it should in the range of [0, ${SCORE_MAX}] after normalizing`,
          );
        total[at]! += score * weight;
      }
      plugins.push({ name: plugin.name, weight, raw, normalised });
    }
    this.#observe('Score', scoreFromMs, 'Success');
    return { slots, plugins, total };
  }

  /** On failure everything that was reserved is given back. */
  reserve(cycle: CycleState, pod: PodInfo, nodeName: string): Status | undefined {
    const fromMs = this.#clock.monotonicMs();
    let status: Status | undefined;
    for (const plugin of this.#of.Reserve) {
      status = plugin.reserve(cycle, pod, nodeName);
      if (status) break;
    }
    this.#observe('Reserve', fromMs, statusCode(status));
    return status;
  }

  unreserve(cycle: CycleState, pod: PodInfo, nodeName: string): void {
    for (const plugin of [...this.#of.Reserve].reverse()) plugin.unreserve?.(cycle, pod, nodeName);
  }

  /** Which plugins want the pod to wait and how long, or the first rejection. */
  permit(
    cycle: CycleState,
    pod: PodInfo,
    nodeName: string,
  ): { readonly status: Status | undefined; readonly waits: ReadonlyMap<string, number> } {
    const fromMs = this.#clock.monotonicMs();
    const waits = new Map<string, number>();
    let rejection: Status | undefined;
    for (const plugin of this.#of.Permit) {
      const { status, timeoutMs } = plugin.permit(cycle, pod, nodeName);
      if (status?.code === 'Wait') waits.set(plugin.name, timeoutMs ?? 0);
      else if (status) {
        rejection = status;
        break;
      }
    }
    this.#observe('Permit', fromMs, rejection ? rejection.code : waits.size > 0 ? 'Wait' : 'Success');
    return { status: rejection, waits };
  }

  async preBind(cycle: CycleState, pod: PodInfo, nodeName: string): Promise<Status | undefined> {
    return this.#timed('PreBind', async () => {
      for (const plugin of this.#of.PreBind) {
        const status = await attempt(plugin.name, () => plugin.preBind(cycle, pod, nodeName));
        if (status && status.code !== 'Skip') return status;
      }
      return undefined;
    });
  }

  async bind(cycle: CycleState, pod: PodInfo, nodeName: string): Promise<Status | undefined> {
    return this.#timed('Bind', async () => {
      for (const plugin of this.#of.Bind) {
        const status = await attempt(plugin.name, () => plugin.bind(cycle, pod, nodeName));
        if (status?.code !== 'Skip') return status;
      }
      return failed('', 'no bind plugin took the pod');
    });
  }

  postBind(cycle: CycleState, pod: PodInfo, nodeName: string): void {
    const fromMs = this.#clock.monotonicMs();
    for (const plugin of this.#of.PostBind) plugin.postBind(cycle, pod, nodeName);
    this.#observe('PostBind', fromMs, 'Success');
  }

  async #timed(point: string, run: () => Promise<Status | undefined>): Promise<Status | undefined> {
    const fromMs = this.#clock.monotonicMs();
    const status = await run();
    this.#observe(point, fromMs, statusCode(status));
    return status;
  }

  observeFilter(fromMs: number, code: StatusCode): void {
    this.#observe('Filter', fromMs, code);
  }
}

const attempt = async (
  plugin: string,
  run: () => Promise<Status | undefined>,
): Promise<Status | undefined> => {
  try {
    return await run();
  } catch (error) {
    return failed(plugin, messageOf(error), error);
  }
};
