import { ReasonError } from '../../../../base/errors.ts';

/** One value: a variable, an expanded word, the output of a command substitution, the text that a command works on. */
export const VALUE_CHARACTERS_MAX = 1024 * 1024;
/** Everything that a container holds at the same time in variables, pipes and buffered output. */
export const MEMORY_CHARACTERS_MAX = 8 * 1024 * 1024;
export const VARIABLES_MAX = 1_024;
/** As the kernel counts the arguments of one command. */
export const ARGUMENTS_MAX = 16_384;
export const ARGUMENTS_CHARACTERS_MAX = 2 * 1024 * 1024;
/** Shells, pipeline stages, substitutions and exec sessions of one container at the same time. */
export const PROCESSES_MAX = 128;
/** Shells inside shells: scripts that call themselves, substitutions in substitutions. */
export const DEPTH_MAX = 32;
/** Compound commands, groups and brackets inside each other. */
export const NESTING_MAX = 64;

export type LimitReason = 'OutOfMemory' | 'TooManyArguments' | 'TooManyProcesses' | 'TooDeep';

/** A bound was reached; the message is what a shell would print. */
export class LimitError extends ReasonError<LimitReason> {
  override readonly name = 'LimitError';
}

export const outOfMemory = (): LimitError => new LimitError('OutOfMemory', 'out of memory');
export const tooManyArguments = (): LimitError =>
  new LimitError('TooManyArguments', 'Argument list too long');
export const tooManyProcesses = (): LimitError =>
  new LimitError('TooManyProcesses', "can't fork: Resource temporarily unavailable");
export const tooDeep = (): LimitError =>
  new LimitError('TooDeep', `maximum recursion depth (${DEPTH_MAX}) reached`);

/** Text that grows, up to the bound of one value. */
export const bounded = (text: string): string => {
  if (text.length > VALUE_CHARACTERS_MAX) throw outOfMemory();
  return text;
};

/** Without the newlines at its end; a regular expression would take quadratic time on text full of them. */
export const withoutLastNewlines = (text: string): string => {
  let end = text.length;
  while (end > 0 && text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
};
