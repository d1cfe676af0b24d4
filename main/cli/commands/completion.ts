import { EXIT_OK, usageError, type Command } from '../command.ts';
import { completionScript, SHELLS } from '../reference/completion.ts';

export const completion: Command = {
  usage: `  pilothouse completion ${SHELLS.join('|')}

  Prints the completion script of a shell, generated from the commands of this version. Load it with
  source <(pilothouse completion bash), or with pilothouse completion fish | source.`,
  async run(args, context) {
    const [shell] = args;
    const known = SHELLS.find((one) => one === shell);
    if (known === undefined || args.length !== 1)
      throw usageError(`completion requires one of ${SHELLS.join(', ')}`);
    const { COMMANDS, referencesOf } = await import('../table.ts');
    context.print(completionScript(known, await referencesOf(COMMANDS)).trimEnd());
    return EXIT_OK;
  },
};
