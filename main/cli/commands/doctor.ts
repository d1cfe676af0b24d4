import { silentLog } from '../../../core/base/log.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { examine } from '../../../core/cluster/checks/doctor.ts';
import { stateOrNone } from '../../../core/cluster/checks/gather.ts';
import type { Finding as FileFinding } from '../../../core/cluster/checks/finding.ts';
import { requireCluster } from '../../../core/cluster/data-folder/open.ts';
import { actionCommand, inEnglish, type Finding } from '../../../core/contract/index.ts';
import { EXIT_FAILURE, EXIT_OK, parseOptions, type Command } from '../command.ts';
import { inWords, printFindings } from './findings.ts';

const MARKS: Readonly<Record<Finding['verdict'], string>> = {
  ok: 'ok',
  warning: 'warning',
  problem: 'PROBLEM',
  absent: 'n/a',
};

const linesOf = (finding: Finding, directory: string): readonly string[] => {
  const { title, verdict, message, advice, fix } = inWords(finding);
  const command =
    fix?.kind === 'action' ? actionCommand(fix.action, { directory, kubeconfigPath: undefined }) : undefined;
  return [
    `${MARKS[verdict].padEnd(8)} ${title}: ${message}`,
    ...(finding.evidence ?? []).map((one) => `           because ${inEnglish(one)}`),
    ...(advice === '' || verdict === 'ok' ? [] : [`           -> ${advice}`]),
    ...(command === undefined || verdict === 'ok' ? [] : [`              ${command}`]),
  ];
};

export const doctor: Command = {
  usage: `  pilothouse doctor [--data DIR] [-o json]

  Diagnoses a cluster. Of a running one it finds what is wrong and why: quorum, API servers, database, disks,
  certificates, clocks, controllers, admission, scheduling and nodes, each with its evidence and a command that repairs
  it. It also checks what keeps a cluster from starting: files, keys, ports and disk space. Exits with 1 if there is a
  problem.`,
  async run(args, context) {
    const { dataDirectory, json } = parseOptions({}, args, context);
    const isRunning = (await stateOrNone(dataDirectory)) !== undefined;
    const files = await examine(dataDirectory, { clock: systemClock, isRunning });
    if (!isRunning) return printFindings(files, json, context);
    const { examineRunning } = await import('../../../core/cluster/doctor/doctor.ts');
    const config = await requireCluster(dataDirectory);
    const { findings, gaps } = await examineRunning(dataDirectory, config, {
      clock: systemClock,
      log: silentLog,
    });
    const isBad = ({ verdict }: Pick<FileFinding, 'verdict'> | Finding): boolean => verdict === 'problem';
    if (json)
      context.print(
        JSON.stringify({
          findings: findings.map((finding) => ({
            ...inWords(finding),
            evidence: (finding.evidence ?? []).map(inEnglish),
          })),
          files,
          gaps,
        }),
      );
    else {
      for (const finding of findings) for (const line of linesOf(finding, dataDirectory)) context.print(line);
      for (const gap of gaps) context.note(`pilothouse: could not ask for ${gap}`);
      printFindings(files, false, context);
    }
    return findings.some(isBad) || files.some(isBad) ? EXIT_FAILURE : EXIT_OK;
  },
};
