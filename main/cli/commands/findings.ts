import type { Finding } from '../../../core/cluster/checks/finding.ts';
import { inEnglish, type Finding as CheckFinding } from '../../../core/contract/index.ts';
import { EXIT_FAILURE, EXIT_OK, type CommandContext } from '../command.ts';

/** A finding of the checklist or of preflight checks, as a command prints it. */
export const inWords = ({ id, verdict, message, advice, fix }: CheckFinding) => ({
  id,
  title: inEnglish({ code: `check.${id}`, values: {} }),
  verdict,
  message: inEnglish(message),
  advice: advice === null ? '' : inEnglish(advice),
  ...(fix && { fix }),
});

export type PrintedFinding = ReturnType<typeof inWords>;

/** Prints findings; the exit code tells whether there is a problem among them. */
export const printFindings = (
  findings: readonly Finding[],
  json: boolean,
  context: CommandContext,
): number => {
  if (json) context.print(JSON.stringify(findings));
  else
    for (const { name, verdict, message, advice } of findings)
      context.print(
        `${verdict.padEnd(8)} ${name.padEnd(19)} ${message}${advice === undefined ? '' : `; ${advice}`}`,
      );
  return findings.some(({ verdict }) => verdict === 'problem') ? EXIT_FAILURE : EXIT_OK;
};
