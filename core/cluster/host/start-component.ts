import { Worker } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import type {
  ComponentHandle,
  ComponentRequest,
  StartComponent,
} from '../../kubelet/runtimes/component/component-runtime.ts';
import type { ComponentStart, FromComponent, ToComponent } from './component-thread.ts';
import {
  NO_FAULTS,
  STOP_STAGES,
  stopStageOf,
  type ComponentPhase,
  type ComponentUsage,
  type HostFaults,
  type StopStage,
} from './messages.ts';
import { rotatingFile } from './rotating-file.ts';

/** New objects of a thread; more of it costs memory that stays, less of it costs collections. */
const YOUNG_GENERATION_MB = 16;
/** Of those that never have much to do. */
const YOUNG_GENERATION_SMALL_MB = 6;
const SMALL_COMPONENTS: ReadonlySet<string> = new Set(['cloud-controller-manager', 'kube-dns', 'kube-proxy']);
/** Pieces of output that wait for the kubelet, which keeps the last of them only. */
const OUTPUT_PIECES_MAX = 256;

/** The tag of an image without the revision of its packaging: `3.6.6-0` is 3.6.6. */
export const versionOfImage = (image: string): string =>
  /:([^:/@]+)(?:@.*)?$/.exec(image)?.[1]?.replace(/-\d+$/, '') ?? '';

/** Why a component ended that no one had asked to. */
export interface ComponentEnd {
  readonly message: string;
  readonly isRejected: boolean;
}

export interface ComponentEvents {
  onPhase(component: string, phase: ComponentPhase, version: string, end?: ComponentEnd): void;
}

/** A thread that is asked to die and does not hear is terminated. */
const DIE_MS = 200;

export interface ComponentStarterOptions extends ComponentEvents {
  readonly place: ComponentStart['place'];
  /** The program of `program.ts`. */
  readonly program: URL;
  logFile(component: string): string;
}

interface Entry {
  readonly worker: Worker;
  send(message: ToComponent): void;
  kill(): void;
  usage(): ComponentUsage;
}

/** Output between a thread and anyone who reads it. Old pieces give way. */
class Output implements AsyncIterable<string> {
  readonly #pieces: string[] = [];
  #wake: () => void = () => undefined;
  #isEnded = false;

  push(text: string): void {
    this.#pieces.push(text);
    if (this.#pieces.length > OUTPUT_PIECES_MAX) this.#pieces.shift();
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (;;) {
      const text = this.#pieces.shift();
      if (text !== undefined) yield text;
      else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** Every component of this host in a thread of its own. */
export class ComponentStarter {
  readonly #options: ComponentStarterOptions;
  readonly #running = new Map<string, Entry>();
  readonly #changed = new Set<() => void>();
  readonly #waiting = new Map<StopStage, (() => void)[]>();
  /** Undefined while the host runs: a component whose manifest goes then ends without waiting. */
  #stage: StopStage | undefined;
  #faults: HostFaults = NO_FAULTS;

  constructor(options: ComponentStarterOptions) {
    this.#options = options;
  }

  readonly start: StartComponent = (request) => Promise.resolve(this.#start(request));

  get names(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** For every component that runs, and for those that start later. */
  setFaults(faults: HostFaults): void {
    this.#faults = faults;
    for (const { send } of this.#running.values()) send({ kind: 'faults', faults });
  }

  /** False when it does not run. */
  kill(component: string): boolean {
    const entry = this.#running.get(component);
    entry?.kill();
    return entry !== undefined;
  }

  usages(): readonly ComponentUsage[] {
    return [...this.#running.values()].map((entry) => entry.usage());
  }

  /** Once nothing of this stage or an earlier one runs. */
  async drained(stage: StopStage): Promise<void> {
    const last = STOP_STAGES.indexOf(stage);
    while (this.names.some((name) => STOP_STAGES.indexOf(stopStageOf(name)) <= last))
      await new Promise<void>((resolve) => this.#changed.add(resolve));
  }

  /** The host ends: from here on components that are asked to stop wait for their stage. */
  enter(stage: StopStage): void {
    this.#stage = stage;
    for (const passed of STOP_STAGES.slice(0, STOP_STAGES.indexOf(stage) + 1))
      for (const go of this.#waiting.get(passed)?.splice(0) ?? []) go();
  }

  #start({ name, args, image }: ComponentRequest): ComponentHandle {
    const { program, logFile, onPhase, place } = this.#options;
    const version = versionOfImage(image);
    const start: ComponentStart = { component: name, args, version, place, faults: this.#faults };
    const file = rotatingFile(logFile(name));
    const output = new Output();
    const worker = new Worker(program, {
      workerData: start,
      stdout: true,
      stderr: true,
      resourceLimits: {
        maxYoungGenerationSizeMb: SMALL_COMPONENTS.has(name)
          ? YOUNG_GENERATION_SMALL_MB
          : YOUNG_GENERATION_MB,
      },
    });
    const write = (text: string): void => {
      file.write(text);
      output.push(text);
    };
    for (const stream of [worker.stdout, worker.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => write(text));
    onPhase(name, 'starting', version);

    let message: string | undefined;
    let isRejected = false;
    let heapBytes = 0;
    let isStopping = false;
    let before = worker.performance.eventLoopUtilization();
    let settleReady: { resolve(): void; reject(error: Error): void } | undefined;
    const ready = new Promise<void>((resolve, reject) => (settleReady = { resolve, reject }));
    ready.catch(() => undefined);
    const send = (request: ToComponent): void => worker.postMessage(request);
    worker.on('message', (said: FromComponent) => {
      if (said.kind === 'heap') heapBytes = said.heapBytes;
      else if (said.kind === 'failed') ({ message, isUsage: isRejected } = said);
      else {
        settleReady?.resolve();
        onPhase(name, 'ready', version);
      }
    });
    worker.on(
      'error',
      (error) => (message = error instanceof Error ? (error.stack ?? error.message) : messageOf(error)),
    );
    const entry: Entry = {
      worker,
      send,
      kill() {
        send({ kind: 'die' });
        const timer = setTimeout(() => void worker.terminate(), DIE_MS);
        void exited.then(() => clearTimeout(timer));
      },
      usage() {
        const utilization = worker.performance.eventLoopUtilization(before).utilization;
        before = worker.performance.eventLoopUtilization();
        send({ kind: 'heap' });
        return { component: name, heapBytes, utilization };
      },
    };
    this.#running.set(name, entry);
    const exited = new Promise<{ exitCode: number; message?: string }>((resolve) => {
      worker.once('exit', (exitCode) => {
        if (this.#running.get(name) === entry) this.#running.delete(name);
        for (const wake of this.#changed) wake();
        this.#changed.clear();
        if (message !== undefined && !isStopping)
          write(`${JSON.stringify({ level: 'error', ts: new Date().toISOString(), msg: message })}\n`);
        settleReady?.reject(new Error(message ?? `${name} exited with code ${exitCode}`));
        output.end();
        file.close();
        onPhase(
          name,
          'exited',
          version,
          isStopping ? undefined : { message: message ?? `exited with code ${exitCode}`, isRejected },
        );
        resolve({ exitCode, ...(message !== undefined && { message: message.split('\n')[0]! }) });
      });
    });
    return {
      ready,
      exited,
      logs: output,
      stop: () => {
        isStopping = true;
        onPhase(name, 'stopping', version);
        this.#whenMayStop(stopStageOf(name), () => send({ kind: 'stop' }));
      },
      kill: () => entry.kill(),
      usage: () => {
        // Answered by the thread when it has time: this time's answer is told the next time.
        send({ kind: 'heap' });
        return {
          cpuNanoCores: Math.round(worker.performance.eventLoopUtilization(before).utilization * 1e9),
          cpuCoreNanoSeconds: Math.round(worker.performance.eventLoopUtilization().active * 1e6),
          memoryBytes: heapBytes,
        };
      },
    };
  }

  #whenMayStop(stage: StopStage, go: () => void): void {
    const now = this.#stage;
    if (now === undefined || STOP_STAGES.indexOf(stage) <= STOP_STAGES.indexOf(now)) return go();
    const queue = this.#waiting.get(stage) ?? [];
    queue.push(go);
    this.#waiting.set(stage, queue);
  }
}
