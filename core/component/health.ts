import { assert } from '../base/assert.ts';
import { toDisposable, type Disposable } from '../base/disposable.ts';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { goQuote } from '../api/field/go-text.ts';

export const HEALTH_ROOTS = ['healthz', 'livez', 'readyz'] as const;
export type HealthRoot = (typeof HEALTH_ROOTS)[number];

export interface HealthCheck {
  readonly name: string;
  /** Throws, or rejects, while it fails. */
  check(signal: AbortSignal): void | Promise<void>;
  /** `?exclude=<group>` leaves out all checks of a group. */
  readonly group?: string;
}

export interface HealthAnswer {
  readonly code: number;
  readonly text: string;
}

/** Upstream answers a single check that fails with its reason; the summary withholds it, being public. */
const internalError = (error: unknown): HealthAnswer => ({
  code: 500,
  text: `internal server error: ${messageOf(error)}\n`,
});

/** The checks behind /healthz, /livez and /readyz, in the order in which they were added. */
export class HealthRegistry {
  readonly #checks: Record<HealthRoot, HealthCheck[]>;
  readonly #log: Log;
  /** What failed at the last look: probes ask every second or two, and only a change is worth a line. */
  readonly #failing: Record<HealthRoot, string> = { healthz: '', livez: '', readyz: '' };

  constructor(log: Log) {
    this.#log = log;
    this.#checks = { healthz: [PING], livez: [PING], readyz: [PING] };
  }

  add(check: HealthCheck, roots: readonly HealthRoot[] = HEALTH_ROOTS): Disposable {
    for (const root of roots) {
      assert(
        this.#checks[root].every(({ name }) => name !== check.name),
        `health check ${check.name} is registered twice`,
      );
      this.#checks[root].push(check);
    }
    return toDisposable(() => {
      for (const root of roots) this.#checks[root] = this.#checks[root].filter((one) => one !== check);
    });
  }

  /** Undefined where the path is no health path. */
  async answer(path: string, query: URLSearchParams, signal: AbortSignal): Promise<HealthAnswer | undefined> {
    const [, root = '', ...rest] = path.split('/');
    if (!isHealthRoot(root)) return undefined;
    const name = rest.join('/');
    if (name === '') return this.#summary(root, query, signal);
    const check = this.#checks[root].find((candidate) => candidate.name === name);
    if (check === undefined) return undefined;
    try {
      await check.check(signal);
      return { code: 200, text: 'ok' };
    } catch (error) {
      return internalError(error);
    }
  }

  async #summary(root: HealthRoot, query: URLSearchParams, signal: AbortSignal): Promise<HealthAnswer> {
    const excluded = new Set(query.getAll('exclude'));
    const unmatched = new Set(excluded);
    const failures = new Map<string, string>();
    const run = async (check: HealthCheck): Promise<string> => {
      if (excluded.has(check.name)) {
        unmatched.delete(check.name);
        return `[+]${check.name} excluded: ok\n`;
      }
      if (check.group !== undefined && excluded.has(check.group)) {
        unmatched.delete(check.group);
        return `[+]${check.name} excluded with ${check.group}: ok\n`;
      }
      try {
        await check.check(signal);
        return `[+]${check.name} ok\n`;
      } catch (error) {
        failures.set(check.name, messageOf(error));
        return `[-]${check.name} failed: reason withheld\n`;
      }
    };
    const lines = await Promise.all(this.#checks[root].map(run));
    if (unmatched.size > 0) {
      const names = [...unmatched].sort().map(goQuote).join(',');
      lines.push(`warn: some health checks cannot be excluded: no matches for ${names}\n`);
    }
    if (excluded.size === 0) this.#tell(root, failures);
    if (failures.size > 0) return { code: 500, text: `${lines.join('')}${root} check failed\n` };
    return { code: 200, text: query.has('verbose') ? `${lines.join('')}${root} check passed\n` : 'ok' };
  }

  #tell(root: HealthRoot, failures: ReadonlyMap<string, string>): void {
    const failing = [...failures.keys()].sort().join(',');
    if (failing === this.#failing[root]) return;
    this.#failing[root] = failing;
    if (failures.size === 0) this.#log.write('info', 'health checks pass again', { root });
    else this.#log.write('warn', 'health checks failed', { root, failures: Object.fromEntries(failures) });
  }
}

const isHealthRoot = (text: string): text is HealthRoot => HEALTH_ROOTS.some((root) => root === text);

const PING: HealthCheck = { name: 'ping', check: () => undefined };
