import type { UpgradePlan } from '../../../core/contract/schemas/operations.ts';
import { callControl } from '../../../core/cluster/control/client.ts';
import { hasReason, ReasonError } from '../../../core/base/errors.ts';
import { requireCluster } from '../../../core/cluster/index.ts';
import { upgradeTargets } from '../../../core/cluster/upgrade/plan.ts';
import {
  EXIT_FAILURE,
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';

const USAGE = `  pilothouse upgrade plan [v1.N.P] [--data DIR] [-o json]
  pilothouse upgrade apply v1.N.P [--data DIR] [-o json]
  pilothouse upgrade rollback [--data DIR] [-o json]
  pilothouse upgrade pause|resume [--data DIR] [-o json]

  plan shows what runs, what speaks against an upgrade and its steps; it exits with 1 when something does. apply takes
  a snapshot, then moves API servers, managers and kubelets of the running cluster to the release, one host after the
  other, workers drained. pause holds it before its next step. Cut off, the same command goes on where it was; rollback
  takes the last upgrade back.`;

const printPlan = (plan: UpgradePlan, context: CommandContext): void => {
  const target = plan.unfinished ?? plan.targets[0];
  if (target === undefined) context.print(`the cluster runs ${plan.current}, the newest release there is`);
  else if (plan.unfinished !== null)
    context.print(
      `the cluster is on its way from ${plan.current} to ${target}; pilothouse upgrade apply ${target} goes on`,
    );
  else context.print(`the cluster runs ${plan.current}; pilothouse upgrade apply ${target}`);
  for (const { host, components } of plan.hosts) {
    const versions = Object.entries(components).map(([name, version]) => `${name} ${version}`);
    if (versions.length > 0) context.print(`${host.padEnd(10)} ${versions.join('  ')}`);
  }
  for (const { node, version } of plan.nodes) context.print(`${node.padEnd(10)} kubelet ${version}`);
  for (const { title, verdict, message, advice } of plan.checks)
    context.print(`${verdict.padEnd(8)} ${title.padEnd(20)} ${message}${advice === '' ? '' : `; ${advice}`}`);
  for (const { resource, version, count } of plan.removals)
    context.print(`removed  ${resource.padEnd(20)} ${count} objects are kept as ${version}`);
  for (const [index, { title }] of plan.steps.entries()) context.print(`${index + 1}. ${title}`);
};

const plan = async (
  dataDirectory: string,
  version: string,
  json: boolean,
  context: CommandContext,
): Promise<number> => {
  try {
    const found = await callControl(dataDirectory, 'upgrade.plan', { version });
    if (json) context.print(JSON.stringify(found));
    else printPlan(found, context);
    return found.checks.some(({ verdict }) => verdict === 'problem') || found.removals.length > 0
      ? EXIT_FAILURE
      : EXIT_OK;
  } catch (error) {
    if (!hasReason(error, 'NotRunning')) throw error;
  }
  const { kubernetesVersion: current } = (await requireCluster(dataDirectory)).spec;
  const targets = upgradeTargets(current);
  if (json) context.print(JSON.stringify({ current, targets }));
  else if (targets.length === 0) context.print(`the cluster runs ${current}, the newest release there is`);
  else context.print(`the cluster is at ${current}; start it, then pilothouse upgrade apply ${targets[0]}`);
  return EXIT_OK;
};

const hold = async (
  dataDirectory: string,
  verb: 'pause' | 'resume',
  json: boolean,
  context: CommandContext,
): Promise<number> => {
  const isRunning = await callControl(dataDirectory, `upgrade.${verb}`, {});
  if (!isRunning) throw new ReasonError('NotFound', 'no upgrade is under way');
  if (json) context.print(JSON.stringify({ [verb]: true }));
  else context.print(verb === 'pause' ? 'the upgrade pauses before its next step' : 'the upgrade goes on');
  return EXIT_OK;
};

export const upgrade: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb = '', target, ...more] = words;
    const { dataDirectory, json } = parseOptions({}, rest, context);
    if (more.length > 0) throw usageError(`upgrade ${verb} takes one version`);
    if (verb === 'plan') return plan(dataDirectory, target ?? '', json, context);
    if ((verb === 'pause' || verb === 'resume') && target === undefined)
      return hold(dataDirectory, verb, json, context);
    const note = (line: string): void => context.note(line);
    if (verb === 'apply' && target !== undefined) {
      const outcome = await callControl(dataDirectory, 'upgrade.apply', { version: target }, note);
      context.print(json ? JSON.stringify(outcome) : `upgraded from ${outcome.from} to ${outcome.to}`);
      return EXIT_OK;
    }
    if (verb === 'rollback' && target === undefined) {
      const outcome = await callControl(dataDirectory, 'upgrade.rollback', {}, note);
      context.print(json ? JSON.stringify(outcome) : `rolled back from ${outcome.from} to ${outcome.to}`);
      return EXIT_OK;
    }
    throw usageError('upgrade takes plan, apply VERSION, rollback, pause or resume');
  },
};
