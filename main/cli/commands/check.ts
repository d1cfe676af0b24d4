import { silentLog } from '../../../core/base/log.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { runChecklist } from '../../../core/cluster/checks/checklist.ts';
import { requireCluster } from '../../../core/cluster/index.ts';
import type { Finding } from '../../../core/contract/index.ts';
import { EXIT_FAILURE, EXIT_OK, parseOptions, type Command } from '../command.ts';

const MARKS: Readonly<Record<Finding['verdict'], string>> = {
  ok: 'ok',
  warning: 'warning',
  problem: 'PROBLEM',
  absent: 'absent',
};

const rowsOf = (findings: readonly Finding[]): readonly string[] => {
  const width = Math.max(...findings.map(({ title }) => title.length));
  return findings.flatMap(({ verdict, title, message, advice }) => {
    const head = `${MARKS[verdict].padEnd(8)} ${title.padEnd(width)}  ${message}`;
    return advice === '' ? [head] : [head, `${' '.repeat(width + 11)}-> ${advice}`];
  });
};

const summaryOf = (findings: readonly Finding[]): string => {
  const count = (verdict: Finding['verdict']): number =>
    findings.filter((finding) => finding.verdict === verdict).length;
  return `${findings.length} items: ${count('ok')} ok, ${count('warning')} warnings, ${count('problem')} problems, ${count('absent')} absent`;
};

export const check: Command = {
  usage: `  pilothouse check [--data DIR] [-o json]

  What a production control plane should have, measured on the running cluster: requests are really sent, certificates
  really looked at. Exits with 1 when there is a problem.`,
  async run(args, context) {
    const { dataDirectory, json } = parseOptions({}, args, context);
    const config = await requireCluster(dataDirectory);
    const findings = await runChecklist(dataDirectory, { config, clock: systemClock, log: silentLog });
    if (json) context.print(JSON.stringify(findings));
    else for (const line of [...rowsOf(findings), summaryOf(findings)]) context.print(line);
    return findings.some(({ verdict }) => verdict === 'problem') ? EXIT_FAILURE : EXIT_OK;
  },
};
