import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Client } from '../../client/index.ts';
import {
  saidOf,
  say,
  TIMELINE_ABOUT_MAX,
  type EtcdView,
  type MetricsHealth,
  type Said,
} from '../../contract/index.ts';
import { compareQuorum, NOTHING_SEEN, type QuorumMemory } from '../monitor/etcd/timeline.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import { isEnd, type Draft, type Observation } from './draft.ts';
import { alertChanges } from './observe/alert-changes.ts';
import { clusterChanges } from './observe/cluster-changes.ts';
import { quorumChanges } from './observe/quorum-changes.ts';
import { timelineFolder } from './timeline-files.ts';
import { TimelineLog } from './timeline-log.ts';

const MINUTE_MS = 60_000;
/** Of everything but what people do: a crash loop of a thousand pods must not push out the rest. */
const ENTRIES_PER_MINUTE_MAX = 300;
/** Observed before the log was found; a start takes seconds. */
const EARLY_MAX = 256;
const JUMP_MS_MIN = 2_000;
const SPANS_MAX = 4_096;
const RUN_SPAN = 'run';

export interface TimelineOptions {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Records what happens to one cluster while this process runs it. Nothing here throws: a timeline breaks no cluster. */
export class Timeline {
  readonly log: TimelineLog;
  readonly #options: TimelineOptions;
  readonly #spans = new Map<string, number>();
  readonly #owned = new DisposableStore();
  #early: Observation[] | undefined = [];
  #state: ClusterState | undefined;
  #quorum: QuorumMemory = NOTHING_SEEN;
  #alerts: Parameters<typeof alertChanges>[0] = new Set();
  #offsetMs: number;
  #minute = { index: 0, recorded: 0, skipped: 0 };
  #watching: Disposable | undefined;
  #isStopping = false;

  constructor(options: TimelineOptions) {
    this.#options = options;
    const { dataDirectory, log, clock } = options;
    this.log = new TimelineLog({ folder: timelineFolder(dataDirectory), log });
    this.#offsetMs = clock.nowMs() - clock.monotonicMs();
  }

  /** Begins a recording of a run of the cluster. */
  async start(version: string): Promise<void> {
    const { clock, log } = this.#options;
    let lastMs: number | undefined;
    try {
      lastMs = await this.log.start();
    } catch (error) {
      log.write('warn', 'failed to open the timeline', { error: messageOf(error) });
    }
    const early = this.#early ?? [];
    this.#early = undefined;
    const minutes = Math.max(0, Math.round((clock.nowMs() - (lastMs ?? 0)) / MINUTE_MS));
    this.see([
      {
        lane: 'processes',
        kind: 'recordingBegan',
        severity: 'info',
        about: [],
        text:
          lastMs === undefined
            ? say('timeline.recordingBegan')
            : say('timeline.recordingBegan.gap', { minutes }),
        source: null,
      },
      {
        lane: 'processes',
        kind: 'clusterRun',
        severity: 'ok',
        about: [],
        text: say('timeline.clusterRun', { version }),
        source: '/',
        span: RUN_SPAN,
      },
      ...early,
    ]);
  }

  /** What the API tells, once there is one. */
  watchApi(client: Client): void {
    const { clock, log } = this.#options;
    void import('./api-watches.ts')
      .then(({ startApiWatches }) => {
        if (this.#isStopping || this.#watching) return;
        const see = (seen: readonly Observation[]): void => this.see(seen);
        this.#watching = this.#owned.add(startApiWatches({ client, clock, log, see }));
      })
      .catch((error: unknown) =>
        log.write('warn', 'failed to watch the API for the timeline', { error: messageOf(error) }),
      );
  }

  /** The cluster is stopping: what goes away from now on does so because it was asked to. */
  endWatches(): void {
    this.#isStopping = true;
    this.#watching?.dispose();
  }

  observeState(state: ClusterState): void {
    const before = this.#state;
    this.#state = state;
    if (before) this.see(clusterChanges(before, state));
  }

  observeMembers(view: EtcdView): void {
    if (this.#isStopping) return;
    const { memory, events } = compareQuorum(this.#quorum, view);
    this.#quorum = memory;
    this.see(quorumChanges(events, view));
  }

  observeHealth(health: MetricsHealth): void {
    if (this.#isStopping) return;
    const { alerts, seen } = alertChanges(this.#alerts, health);
    this.#alerts = alerts;
    this.see(seen);
  }

  /** Something that a person does, from its beginning to its end. */
  async during<T>(
    draft: Omit<Draft, 'span'>,
    failed: (why: Said) => Said,
    run: () => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#options;
    const span = `during/${clock.monotonicMs()}/${this.#spans.size}`;
    this.see([{ ...draft, span }]);
    try {
      const result = await run();
      this.see([{ end: span, severity: 'ok' }]);
      return result;
    } catch (error) {
      this.see([{ end: span, severity: 'error', text: failed(saidOf(error)) }]);
      throw error;
    }
  }

  see(observations: readonly Observation[]): void {
    if (observations.length === 0 || this.#owned.disposed) return;
    if (this.#early) {
      this.#early.push(...observations.slice(0, EARLY_MAX - this.#early.length));
      return;
    }
    this.#noteClock();
    for (const observation of observations)
      if (isEnd(observation)) this.#end(observation);
      else this.#begin(observation);
  }

  /** Ends the recording; what was seen is written. */
  async close(): Promise<void> {
    this.see([...this.#spans.keys()].map((end) => ({ end })));
    this.#owned.dispose();
    await this.log.close();
  }

  #begin({ span, atMs, about, ...draft }: Draft): void {
    const nowMs = this.#options.clock.nowMs();
    if (!this.#hasRoom(draft.lane, nowMs)) return;
    const isOpen = span !== undefined && this.#spans.size < SPANS_MAX;
    // One that begins again without an end was replaced: a rollout by the next.
    if (isOpen) this.#end({ end: span });
    const id = this.log.append({
      atMs: atMs ?? nowMs,
      endMs: null,
      isOpen,
      ...draft,
      about: about.slice(0, TIMELINE_ABOUT_MAX),
    });
    if (isOpen) this.#spans.set(span, id);
  }

  #end({ end, severity, text }: Extract<Observation, { end: string }>): void {
    const id = this.#spans.get(end);
    if (id === undefined) return;
    this.#spans.delete(end);
    const atMs = this.#options.clock.nowMs();
    this.log.end(id, { atMs, ...(severity && { severity }), ...(text && { text }) });
  }

  #hasRoom(lane: Draft['lane'], nowMs: number): boolean {
    const index = Math.floor(nowMs / MINUTE_MS);
    if (index !== this.#minute.index) {
      const { skipped } = this.#minute;
      this.#minute = { index, recorded: 0, skipped: 0 };
      if (skipped > 0)
        this.log.append({
          atMs: nowMs,
          endMs: null,
          isOpen: false,
          lane: 'events',
          kind: 'eventsSkipped',
          severity: 'warn',
          about: [],
          text: say('timeline.eventsSkipped', { count: skipped }),
          source: null,
        });
    }
    if (lane === 'operator' || this.#minute.recorded < ENTRIES_PER_MINUTE_MAX) {
      this.#minute.recorded += 1;
      return true;
    }
    this.#minute.skipped += 1;
    return false;
  }

  /** The wall clock against the one that never jumps. */
  #noteClock(): void {
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    const offsetMs = nowMs - clock.monotonicMs();
    const jumpMs = offsetMs - this.#offsetMs;
    // A clock that is corrected by and by does not jump.
    this.#offsetMs = offsetMs;
    if (Math.abs(jumpMs) < JUMP_MS_MIN) return;
    const seconds = Math.round(Math.abs(jumpMs) / 1000);
    this.log.append({
      atMs: nowMs,
      endMs: null,
      isOpen: false,
      lane: 'processes',
      kind: 'clockJumped',
      severity: 'warn',
      about: [],
      text: say(jumpMs > 0 ? 'timeline.clockJumped.ahead' : 'timeline.clockJumped.back', { seconds }),
      source: null,
    });
  }
}
