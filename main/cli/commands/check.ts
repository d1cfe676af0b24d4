import { silentLog } from '../../../core/base/log.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { runChecklist } from '../../../core/cluster/checks/checklist.ts';
import type { BenchmarkFinding } from '../../../core/cluster/checks/cis/benchmark.ts';
import { requireCluster } from '../../../core/cluster/data-folder/open.ts';
import type { Finding } from '../../../core/contract/index.ts';
import { EXIT_FAILURE, EXIT_OK, parseOptions, usageError, type Command } from '../command.ts';
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

const CIS_MARKS: Readonly<Record<Finding['verdict'], string>> = {
  ok: 'PASS',
  warning: 'DECIDE',
  problem: 'FAIL',
  absent: 'N/A',
};

const benchmarkRows = (findings: readonly BenchmarkFinding[]): readonly string[] => {
  const count = (verdict: Finding['verdict']): number =>
    findings.filter((finding) => finding.verdict === verdict).length;
  return [
    ...findings.flatMap(({ id, verdict, title, message, advice }) => [
      `${CIS_MARKS[verdict].padEnd(6)} ${id.padEnd(7)} ${title}`,
      `${' '.repeat(15)}${message}`,
      ...(advice === '' ? [] : [`${' '.repeat(15)}-> ${advice}`]),
    ]),
    `${findings.length} checks: ${count('ok')} passed, ${count('problem')} failed, ${count('warning')} for you to decide, ${count('absent')} not applicable`,
  ];
};

export const check: Command = {
  usage: `  pilothouse check [--benchmark cis] [--data DIR] [-o json]

  Checks the running cluster for production readiness. Every check sends real requests and inspects the certificates
  in use. --benchmark cis runs sections 1 to 4 of the CIS Kubernetes Benchmark instead. Exits with 1 if there is a
  problem.`,
  async run(args, context) {
    const { values, dataDirectory, json } = parseOptions({ benchmark: { type: 'string' } }, args, context);
    const { benchmark } = values as { benchmark?: string };
    if (benchmark !== undefined && benchmark !== 'cis')
      throw usageError(`--benchmark takes cis, not "${benchmark}"`);
    const options = {
      config: await requireCluster(dataDirectory),
      clock: systemClock,
      log: silentLog,
    };
    const print = (findings: readonly { verdict: Finding['verdict'] }[], rows: readonly string[]): number => {
      if (json) context.print(JSON.stringify(findings));
      else for (const line of rows) context.print(line);
      return findings.some(({ verdict }) => verdict === 'problem') ? EXIT_FAILURE : EXIT_OK;
    };
    if (benchmark === 'cis') {
      const { runCisBenchmark } = await import('../../../core/cluster/checks/cis/benchmark.ts');
      const results = await runCisBenchmark(dataDirectory, options);
      return print(results, benchmarkRows(results));
    }
    const findings = (await runChecklist(dataDirectory, options)).map(inWords);
    return print(findings, [...rowsOf(findings), summaryOf(findings)]);
  },
};
