import { parseDurationMs } from '../../../base/duration.ts';
import { isQuantityInvalid, parseQuantity } from '../../../api/quantity/index.ts';
import type { V1Container, V1Pod } from '../../../api/schema/index.ts';
import { LOG_LINES_MAX } from '../memory-log.ts';

/** Annotations below this prefix tell a simulated container how to behave; `.<container>` speaks to one alone. */
export const SIMULATION_PREFIX = 'simulation.pilothouse.dev/';

export interface Behaviour {
  /** Between "create" and "running". */
  readonly startDelayMs: number;
  readonly pullDelayMs: number | undefined;
  /** It ends on its own. */
  readonly exit: { readonly afterMs: number; readonly code: number } | undefined;
  /** Readiness fails this long after the start; Infinity for ever. */
  readonly notReadyMs: number;
  /** The startup probe fails this long. */
  readonly startupMs: number;
  /** Liveness fails from here on; Infinity never. */
  readonly unhealthyAfterMs: number;
  readonly logLines: readonly string[];
  /** The lines again and again in this rhythm; once without it. */
  readonly logIntervalMs: number | undefined;
  readonly cpuNanoCores: number | undefined;
  readonly memoryBytes: number | undefined;
  /** Between SIGTERM and the exit; Infinity waits for SIGKILL. */
  readonly stopDelayMs: number;
  /** Annotations that could not be read, for the container's log. */
  readonly mistakes: readonly string[];
}

/** A log interval below this would be a load test of the kubelet. */
export const LOG_INTERVAL_MS_MIN = 10;
/** As much of a wrong annotation as the log quotes. */
const MISTAKE_CHARACTERS_MAX = 256;

class Annotations {
  readonly mistakes: string[] = [];
  readonly #pod: V1Pod;
  readonly #container: string;

  constructor(pod: V1Pod, container: string) {
    this.#pod = pod;
    this.#container = container;
  }

  text(name: string): string | undefined {
    const annotations = this.#pod.metadata?.annotations;
    return (
      annotations?.[`${SIMULATION_PREFIX}${name}.${this.#container}`] ??
      annotations?.[SIMULATION_PREFIX + name]
    );
  }

  /** A duration as Go writes it; `true` is for ever and `false` not at all, where `words` allows them. */
  durationMs(name: string, words = false): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (words && text === 'true') return Number.POSITIVE_INFINITY;
    if (words && text === 'false') return 0;
    const durationMs = parseDurationMs(text);
    if (durationMs === undefined || durationMs < 0) this.#wrong(name, text, 'a duration such as 10s');
    return durationMs === undefined || durationMs < 0 ? undefined : durationMs;
  }

  integer(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^\d{1,3}$/.test(text) && Number(text) <= 255) return Number(text);
    this.#wrong(name, text, 'an exit code from 0 to 255');
    return undefined;
  }

  quantity(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    try {
      return parseQuantity(text).toNumber();
    } catch (error) {
      if (!isQuantityInvalid(error)) throw error;
      this.#wrong(name, text, 'a quantity such as 100m or 64Mi');
      return undefined;
    }
  }

  #wrong(name: string, text: string, expected: string): void {
    const shown = JSON.stringify(text.slice(0, MISTAKE_CHARACTERS_MAX));
    this.mistakes.push(`annotation ${SIMULATION_PREFIX}${name}: ${shown} is not ${expected}`);
  }
}

const exitOf = (annotations: Annotations): Behaviour['exit'] => {
  const code = annotations.integer('exit-code');
  const crashAfterMs = annotations.durationMs('crash-after');
  if (crashAfterMs !== undefined) return { afterMs: crashAfterMs, code: code ?? 1 };
  const afterMs = annotations.durationMs('exit-after');
  if (afterMs !== undefined) return { afterMs, code: code ?? 0 };
  return code === undefined ? undefined : { afterMs: 0, code };
};

export const behaviourOf = (pod: V1Pod, container: V1Container): Behaviour => {
  const annotations = new Annotations(pod, container.name);
  const logs = annotations.text('logs');
  const intervalMs = annotations.durationMs('log-interval');
  const cpu = annotations.quantity('cpu');
  const stopText = annotations.text('stop-delay');
  return {
    startDelayMs: annotations.durationMs('start-delay') ?? 0,
    pullDelayMs: annotations.durationMs('pull-delay'),
    exit: exitOf(annotations),
    notReadyMs: annotations.durationMs('not-ready', true) ?? 0,
    startupMs: annotations.durationMs('startup-time', true) ?? 0,
    unhealthyAfterMs: annotations.durationMs('unhealthy-after') ?? Number.POSITIVE_INFINITY,
    logLines: logs === undefined || logs === '' ? [] : logs.replace(/\n$/, '').split('\n', LOG_LINES_MAX),
    logIntervalMs: intervalMs === undefined ? undefined : Math.max(LOG_INTERVAL_MS_MIN, intervalMs),
    cpuNanoCores: cpu === undefined ? undefined : cpu * 1e9,
    memoryBytes: annotations.quantity('memory'),
    stopDelayMs:
      stopText === 'never' ? Number.POSITIVE_INFINITY : (annotations.durationMs('stop-delay') ?? 0),
    mistakes: annotations.mistakes,
  };
};
