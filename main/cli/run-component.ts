import type { FlagTable } from '../../core/base/flags.ts';
import { EXIT_OK, type CommandContext } from './command.ts';

const HELP_COLUMN = 44;

/** `--help` and `--version`, which every component answers without starting. True: answered. */
export const answerAboutItself = (
  component: { readonly name: string; readonly flags: FlagTable },
  args: readonly string[],
  context: CommandContext,
  version: () => string,
): boolean => {
  if (args.includes('--version')) {
    context.print(version());
    return true;
  }
  if (!args.includes('--help') && !args.includes('-h')) return false;
  context.print(`Usage: pilothouse component ${component.name} [its flags]\n`);
  for (const [name, { kind, default: fallback, help }] of Object.entries(component.flags)) {
    const shown = Array.isArray(fallback) ? fallback.join(',') : String(fallback);
    context.print(`  ${`--${name} '${shown}'`.padEnd(HELP_COLUMN)} ${kind.type}: ${help}`);
  }
  return true;
};

export interface RunningComponent {
  /** Rejects when it stops by itself. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/** Until the signal, which closes it in order; a failure of its own ends it with one line. */
export const runUntilAsked = async (running: RunningComponent, context: CommandContext): Promise<number> => {
  const asked = new Promise<void>((resolve) => {
    if (context.signal.aborted) resolve();
    else context.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    await Promise.race([asked, running.failed]);
  } finally {
    await running.close();
  }
  return EXIT_OK;
};
