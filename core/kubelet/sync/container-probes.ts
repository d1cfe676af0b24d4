import { DisposableStore } from '../../base/disposable.ts';
import type { V1Pod, V1Probe } from '../../api/schema/index.ts';
import type { ActionTarget } from '../probes/action.ts';
import { startProbe } from '../probes/probe-worker.ts';
import type { ProbeKind } from '../runtimes/runtime.ts';
import type { ContainerRecord } from '../containers/container-record.ts';
import type { NodeContext } from './node-context.ts';

export interface ContainerProbesOptions {
  readonly context: NodeContext;
  pod(): V1Pod;
  /** `isStarted` or `isReady` of a record has changed. */
  onChange(): void;
  /** Startup or liveness is lost: the container has to go. */
  onFailure(record: ContainerRecord, kind: ProbeKind): void;
}

/** The probes of a pod's running containers: startup first, the others once it has succeeded. */
export class ContainerProbes {
  readonly #options: ContainerProbesOptions;
  readonly #running = new Map<ContainerRecord, DisposableStore>();
  #mayRestart = true;

  constructor(options: ContainerProbesOptions) {
    this.#options = options;
  }

  begin(record: ContainerRecord, target: ActionTarget): void {
    const { startupProbe } = record.spec;
    if (!startupProbe || record.isStarted) return this.#started(record, target);
    this.#start(record, target, 'startup', startupProbe);
  }

  end(record: ContainerRecord): void {
    this.#running.get(record)?.dispose();
    this.#running.delete(record);
  }

  /** A pod that is being stopped is not restarted by its probes; readiness continues. */
  stopRestarting(): void {
    this.#mayRestart = false;
  }

  #started(record: ContainerRecord, target: ActionTarget): void {
    const { context } = this.#options;
    const { spec, kind } = record;
    record.isStarted = true;
    const isProbed = kind === 'main' || kind === 'sidecar';
    const readiness = spec.readinessProbe ?? context.runtime.impliedReadiness?.(this.#options.pod(), spec);
    // One that was ready before the kubelet restarted stays so until its probe fails.
    record.isReady ||= !isProbed || !readiness;
    if (isProbed && readiness) this.#start(record, target, 'readiness', readiness);
    if (isProbed && spec.livenessProbe) this.#start(record, target, 'liveness', spec.livenessProbe);
    this.#options.onChange();
  }

  #start(record: ContainerRecord, target: ActionTarget, kind: ProbeKind, probe: V1Probe): void {
    const { context } = this.#options;
    const store = this.#running.get(record) ?? new DisposableStore();
    this.#running.set(record, store);
    store.add(
      startProbe({
        kind,
        probe,
        target,
        onResult: (_, ok) => this.#result(record, target, kind, ok),
        onUnhealthy: (message) => context.event(this.#options.pod(), 'Warning', 'Unhealthy', message),
        onAttempt: (type, result) =>
          context.metrics.probes.labels(`${type[0]!.toUpperCase()}${type.slice(1)}`, result).inc(),
      }),
    );
  }

  #result(record: ContainerRecord, target: ActionTarget, kind: ProbeKind, ok: boolean): void {
    if (kind === 'readiness') {
      record.isReady = ok;
      this.#options.onChange();
    } else if (!ok) {
      if (this.#mayRestart) this.#options.onFailure(record, kind);
    } else if (kind === 'startup') this.#started(record, target);
  }
}
