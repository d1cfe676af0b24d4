import { silentLog } from '../../../core/base/log.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { runChecklist } from '../../../core/cluster/checks/checklist.ts';
import { requireCluster } from '../../../core/cluster/index.ts';
import type { Finding } from '../../../core/contract/index.ts';
import { EXIT_FAILURE, EXIT_OK, parseOptions, type Command } from '../command.ts';
import { inWords, type PrintedFinding } from './findings.ts';

const MARKS: Readonly<Record<Finding['verdict'], string>> = {
  ok: 'ok',
  warning: 'warning',
  problem: 'PROBLEM',
  absent: 'n/a',
};

const rowsOf = (findings: readonly PrintedFinding[]): readonly string[] => {
  const width = Math.max(...findings.map(({ title }) => title.length));
  return findings.flatMap(({ verdict, title, message, advice }) => {
    const head = `${MARKS[verdict].padEnd(8)} ${title.padEnd(width)}  ${message}`;
    return advice === '' ? [head] : [head, `${' '.repeat(width + 11)}-> ${advice}`];
  });
};

const summaryOf = (findings: readonly Pick<Finding, 'verdict'>[]): string => {
  const count = (verdict: Finding['verdict']): number =>
    findings.filter((finding) => finding.verdict === verdict).length;
  return `${findings.length} checks: ${count('ok')} passed, ${count('warning')} warnings, ${count('problem')} problems, ${count('absent')} not supported`;
};

export const check: Command = {
  usage: `  pilothouse check [--data DIR] [-o json]

  Checks the running cluster for production readiness. Every check sends real requests and inspects the certificates
  in use. Exits with 1 if there is a problem.`,
  async run(args, context) {
    const { dataDirectory, json } = parseOptions({}, args, context);
    const config = await requireCluster(dataDirectory);
    const measured = await runChecklist(dataDirectory, { config, clock: systemClock, log: silentLog });
    const findings = measured.map(inWords);
    if (json) context.print(JSON.stringify(findings));
    else for (const line of [...rowsOf(findings), summaryOf(findings)]) context.print(line);
    return findings.some(({ verdict }) => verdict === 'problem') ? EXIT_FAILURE : EXIT_OK;
  },
};
