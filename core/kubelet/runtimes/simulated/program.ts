import type { ContainerRequest } from '../runtime.ts';
import type { Behaviour } from './behaviour.ts';
import { mayBeUnderstood } from './shell/understands.ts';
import type { ProgramExit } from './content/messages.ts';
import type { Program } from './simulated-container.ts';
import { isOutOfMemory } from './usage.ts';
import { expandReferences } from '../../volumes/environment.ts';

/** How long a task takes of which nothing is known: an init container, a job. */
export const TASK_MS_DEFAULT = 1_000;
const OUT_OF_MEMORY_AFTER_MS = 1_000;
const EXIT_OUT_OF_MEMORY = 137;

export interface ProgramOptions {
  readonly request: ContainerRequest;
  readonly behaviour: Behaviour;
  /** Whether the simulated shell knows every command of a script. */
  understands(argv: readonly string[]): Promise<boolean>;
  /** Readies whatever the command needs; what is not there holds the container back, and it is started again later. */
  prepare(argv: readonly string[]): Promise<() => Promise<ProgramExit>>;
}

/** `command` and `args` with their references filled in. */
export const commandLine = ({ container, environment }: ContainerRequest): string[] =>
  [...(container.command ?? []), ...(container.args ?? [])].map((word) =>
    expandReferences(word, environment),
  );

/**
 * What the container does: what its annotations say; else its command, when the simulated shell knows every word of
 * it; else a server that runs for ever, or a task that succeeds after a second where the pod waits for an end.
 */
export const programOf = async (options: ProgramOptions): Promise<Program> => {
  const { request, behaviour } = options;
  if (isOutOfMemory(request.container, behaviour))
    return { exit: { afterMs: OUT_OF_MEMORY_AFTER_MS, code: EXIT_OUT_OF_MEMORY, reason: 'OOMKilled' } };
  if (behaviour.exit) return { exit: behaviour.exit };
  const argv = commandLine(request);
  if (mayBeUnderstood(argv) && (await options.understands(argv)))
    return { exit: undefined, run: await options.prepare(argv) };
  const { kind, pod } = request;
  const isTask = kind === 'init' || (kind === 'main' && (pod.spec?.restartPolicy ?? 'Always') !== 'Always');
  return { exit: isTask ? { afterMs: TASK_MS_DEFAULT, code: 0 } : undefined };
};
