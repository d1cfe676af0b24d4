import type { Component, RunningComponent } from '../../core/cluster/components/index.ts';
import { EXIT_OK, type CommandContext } from './command.ts';

const HELP_COLUMN = 44;
const LINGER_MS_MAX = 500;

/** `--help` and `--version`, which every component answers without starting. True: answered. */
export const answerAboutItself = (
  component: Component,
  args: readonly string[],
  context: CommandContext,
): boolean => {
  if (args.includes('--version')) {
    context.print(component.versionText);
    return true;
  }
  if (!args.includes('--help') && !args.includes('-h')) return false;
  context.print(`Usage: pilothouse component ${component.name} [flags]\n`);
  for (const [name, { kind, default: fallback, help }] of Object.entries(component.flags)) {
    const shown = Array.isArray(fallback) ? fallback.join(',') : String(fallback);
    context.print(`  ${`--${name} '${shown}'`.padEnd(HELP_COLUMN)} ${kind.type}: ${help}`);
  }
  return true;
};

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
    // A timer that somebody forgot must not keep a component that has ended; the code is the process's own.
    setTimeout(() => process.exit(), LINGER_MS_MAX).unref();
  }
  return EXIT_OK;
};
