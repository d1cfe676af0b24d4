import {
  SaidError,
  saidOf,
  say,
  type AuditEventView,
  type DrillRequest,
  type DrillRun,
  type DrillView,
  type DrillWords,
} from '../../contract/index.ts';
import { auditLogsOf, readAuditEvents } from '../audit-trail/read-events.ts';
import { assertHealthy } from '../supervisor/move.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { askAll, untilBroken } from './ask.ts';
import type { Drill } from './document.ts';
import * as record from './drill-record.ts';
import { drillFile, isRunning, type DrillRecord } from './drill-record.ts';
import { gradeOf, stepsIn, storyOf } from './grade.ts';
import { builtInText } from './library/index.ts';
import { parseDrill } from './parse-drill.ts';
import { perform } from './perform.ts';
import { undoAll, undoOf } from './undo.ts';
import { untilNamespace } from './until-namespace.ts';
import { openWorld, type World } from './world.ts';

/** For the cluster to recover from what a solution did; a person checks again. */
const SETTLED_MS_MAX = 120_000;
/** A little longer than --audit-log-batch-max-wait of our manifests. */
const AUDIT_BATCH_MS = 1_200;
/** Who a person is to the API; components and this engine have names of their own. */
const PERSON = 'kubernetes-admin';

/** What a person may know by now: hints that were asked for, and no title that gives the cause away. */
const shownOf = (words: DrillWords, { spec }: Drill, kept: DrillRecord): DrillWords => ({
  ...words,
  hints: words.hints.slice(0, kept.hintsShown),
  assertions: words.assertions.map((title, index) =>
    isRunning(kept) && spec.assertions[index]?.revealsCause ? '' : title,
  ),
});

const wordsOf = ({ spec }: Drill): DrillWords => ({
  title: spec.title,
  symptoms: spec.symptoms,
  hints: spec.hints,
  assertions: spec.assertions.map(({ title }) => title),
});

const checksOf = ({ spec }: Drill, kept: DrillRecord): DrillRun['checks'] =>
  kept.checks?.map((check, index) =>
    isRunning(kept) && spec.assertions[index]?.revealsCause ? { ...check, detail: null } : check,
  ) ?? null;

const runOf = (drill: Drill, kept: DrillRecord, isBusy: boolean): DrillRun => ({
  name: drill.metadata.name,
  topic: drill.spec.topic,
  difficulty: drill.spec.difficulty,
  words: shownOf(wordsOf(drill), drill, kept),
  german: drill.spec.translations.de ? shownOf(drill.spec.translations.de, drill, kept) : null,
  phase: kept.phase,
  startedAtMs: kept.startedAtMs,
  brokenAtMs: kept.brokenAtMs,
  endedAtMs: kept.endedAtMs,
  hintsTotal: drill.spec.hints.length,
  checks: checksOf(drill, kept),
  checkedAtMs: kept.checkedAtMs,
  grade: kept.grade,
  story: kept.story,
  ...drill.spec.grade,
  problem: kept.phase === 'preparing' && !isBusy ? say('drill.interrupted') : kept.problem,
  isBusy,
});

type Progress = (line: string) => void;

/** The drill of one running cluster. One request at a time; the record is written before and after each step. */
export class Drills {
  readonly #supervisor: Supervisor;
  #isBusy = false;

  constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor;
  }

  get #data(): string {
    return this.#supervisor.folder.directory;
  }

  async view(): Promise<DrillView> {
    const isScratch = this.#supervisor.config.spec.purpose === 'drills';
    const kept = isScratch ? await drillFile.read(this.#data) : undefined;
    return { isScratch, run: kept ? runOf(parseDrill(kept.text, 'drill.json'), kept, this.#isBusy) : null };
  }

  async request(request: DrillRequest, progress: Progress): Promise<DrillView> {
    const { config } = this.#supervisor;
    if (config.spec.purpose !== 'drills')
      throw new SaidError('Forbidden', say('drill.notScratch', { cluster: config.metadata.name }));
    if (this.#isBusy) throw new SaidError('Conflict', say('drill.busy'));
    this.#isBusy = true;
    try {
      await this.#answer(request, progress);
    } finally {
      this.#isBusy = false;
    }
    return this.view();
  }

  async #answer(request: DrillRequest, progress: Progress): Promise<void> {
    switch (request.kind) {
      case 'start':
        return this.#start(builtInText(request.name), request.name, progress);
      case 'startOwn':
        return this.#start(request.text, 'the document', progress);
      case 'hint': {
        const { kept, drill } = await this.#running();
        return this.#keep(record.hinted(kept, drill.spec.hints.length));
      }
      case 'check':
        return this.#check(await this.#running());
      case 'solve':
        return this.#solve(progress);
      case 'giveUp': {
        // Not by its document: one that an earlier version accepted can still be given up.
        const kept = await this.#kept();
        return this.#cleanUp(record.abandoned(kept, this.#supervisor.clock.nowMs()));
      }
    }
  }

  async #keep(kept: DrillRecord): Promise<void> {
    await drillFile.write(this.#data, kept);
  }

  async #kept(): Promise<DrillRecord> {
    const kept = await drillFile.read(this.#data);
    if (!kept || !isRunning(kept)) throw new SaidError('Conflict', say('drill.notRunning'));
    return kept;
  }

  async #running(): Promise<{ readonly kept: DrillRecord; readonly drill: Drill }> {
    const kept = await this.#kept();
    return { kept, drill: parseDrill(kept.text, 'drill.json') };
  }

  async #with<T>(use: Parameters<typeof openWorld>[1], run: (world: World) => Promise<T>): Promise<T> {
    const world = await openWorld(this.#supervisor, use);
    try {
      return await run(world);
    } finally {
      world.dispose();
    }
  }

  async #start(text: string, from: string, progress: Progress): Promise<void> {
    const drill = parseDrill(text, from);
    const before = await drillFile.read(this.#data);
    if (before && isRunning(before))
      throw new SaidError(
        'Conflict',
        say('drill.already', { drill: parseDrill(before.text, 'drill.json').metadata.name }),
      );
    this.#assertFits(drill);
    // The process ended while it cleaned up.
    if (before && before.undo.length > 0) await this.#cleanUp(before);
    await assertHealthy(this.#supervisor);
    await this.#with('setup', async (world) => {
      // Those of a drill before are deleted in the background.
      for (const namespace of drill.spec.allows.namespaces)
        await untilNamespace(world, namespace, (found) => found === undefined);
      let kept = record.begin(text, this.#supervisor.clock.nowMs());
      await this.#keep(kept);
      try {
        for (const step of drill.spec.setup) {
          const { undo, hosts } = await undoOf(world, step);
          kept = record.owing(kept, undo, hosts);
          await this.#keep(kept);
          await perform(world, step, { broken: kept.hosts, isRecorded: false });
        }
        const { assertions, brokenWithinSeconds } = drill.spec;
        const isBroken = await this.#with('question', (asking) =>
          untilBroken(asking, assertions, brokenWithinSeconds),
        );
        if (!isBroken) throw new SaidError('Failed', say('drill.notBroken'));
      } catch (error) {
        await this.#cleanUp(record.failed(kept, saidOf(error), this.#supervisor.clock.nowMs()));
        throw error;
      }
      await this.#keep(record.broke(kept, this.#supervisor.clock.nowMs()));
      progress(drill.spec.title);
    });
  }

  #assertFits({ spec: { needs } }: Drill): void {
    const { controlPlanes, workers } = this.#supervisor.config.spec;
    if (controlPlanes >= needs.controlPlanes && workers >= needs.workers) return;
    throw new SaidError(
      'Conflict',
      say('drill.tooSmall', { controlPlanes: needs.controlPlanes, workers: needs.workers }),
    );
  }

  async #check({ kept, drill }: { readonly kept: DrillRecord; readonly drill: Drill }): Promise<void> {
    if (kept.brokenAtMs === null) throw new SaidError('Conflict', say('drill.interrupted'));
    const checks = await this.#with('question', (world) => askAll(world, drill.spec.assertions));
    const toMs = this.#supervisor.clock.nowMs();
    const after = record.checked(kept, checks, toMs);
    await this.#keep(after);
    if (checks.some(({ isPassed }) => !isPassed)) return;
    const span = { fromMs: kept.brokenAtMs, toMs };
    // The last step of a person may still be in the batch of an API server.
    if (!kept.isScripted) await this.#supervisor.wait(AUDIT_BATCH_MS);
    const { entries } = await this.#supervisor.timeline.log.read();
    const story = storyOf(entries, await this.#writes(span.fromMs), span);
    const grade = gradeOf({
      seconds: Math.round((span.toMs - span.fromMs) / 1000),
      steps: stepsIn(story),
      hints: kept.hintsShown,
      isScripted: kept.isScripted,
      ...drill.spec.grade,
    });
    await this.#cleanUp(record.solved(after, { grade, story }));
  }

  /** What the person wrote to the API. An audit log that cannot be read costs these steps, not the grade. */
  async #writes(fromMs: number): Promise<readonly AuditEventView[]> {
    try {
      const logs = await auditLogsOf(this.#data, this.#supervisor.config);
      const filter = {
        user: PERSON,
        verb: 'write',
        object: '',
        resource: null,
        toMs: null,
        onlyDenied: false,
        onlyPeople: true,
      };
      return (await readAuditEvents(logs, { ...filter, fromMs })).events;
    } catch {
      return [];
    }
  }

  async #solve(progress: Progress): Promise<void> {
    const { kept, drill } = await this.#running();
    const solving = record.scripted(kept);
    await this.#keep(solving);
    await this.#with('person', async (world) => {
      for (const step of drill.spec.solution)
        await perform(world, step, { broken: solving.hosts, isRecorded: true });
    });
    const { clock } = this.#supervisor;
    const deadlineMs = clock.monotonicMs() + SETTLED_MS_MAX;
    for (;;) {
      await this.#check(await this.#running());
      const after = await drillFile.read(this.#data);
      if (!after || !isRunning(after)) return progress(drill.spec.title);
      if (clock.monotonicMs() >= deadlineMs) return;
    }
  }

  /** The end of a run: it is kept first, so that a crash in the middle takes nothing back twice that matters. */
  async #cleanUp(kept: DrillRecord): Promise<void> {
    await this.#keep(kept);
    const problem = await this.#with('setup', (world) => undoAll(world, kept.undo));
    await this.#keep(record.undone(kept, problem));
  }
}
