import { inEnglish } from '../../../core/contract/index.ts';
import { jsonOf } from '../json.ts';
import type { UpgradePlan } from '../../../core/contract/schemas/operations.ts';
import { callControl } from '../../../core/cluster/control/client.ts';
import { hasReason, ReasonError } from '../../../core/base/errors.ts';
import { requireCluster } from '../../../core/cluster/data-folder/open.ts';
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
import { inWords } from './findings.ts';

const USAGE = `  pilothouse upgrade plan [v1.N.P] [--data DIR] [-o json]
  pilothouse upgrade apply v1.N.P [--data DIR] [-o json]
  pilothouse upgrade rollback [--data DIR] [-o json]
  pilothouse upgrade pause|resume [--data DIR] [-o json]

  plan shows component versions, preflight checks and steps; it exits with 1 if a check fails. apply takes a snapshot,
  then upgrades API servers, controller managers, schedulers and kubelets one host at a time and drains workers first.
  pause stops before the next step. If an upgrade is interrupted, run the same command again to resume it. rollback
  reverts the last upgrade.`;

const printPlan = (plan: UpgradePlan, context: CommandContext): void => {
  const target = plan.unfinished ?? plan.targets[0];
  if (target === undefined) context.print(`the cluster runs ${plan.current}, the latest supported version`);
  else if (plan.unfinished !== null)
    context.print(
      `the upgrade from ${plan.current} to ${target} is incomplete; resume it with pilothouse upgrade apply ${target}`,
    );
  else context.print(`the cluster runs ${plan.current}; upgrade it with pilothouse upgrade apply ${target}`);
  for (const { host, components } of plan.hosts) {
    const versions = Object.entries(components).map(([name, version]) => `${name} ${version}`);
    if (versions.length > 0) context.print(`${host.padEnd(10)} ${versions.join('  ')}`);
  }
  for (const { node, version } of plan.nodes) context.print(`${node.padEnd(10)} kubelet ${version}`);
  for (const { title, verdict, message, advice } of plan.checks.map(inWords))
    context.print(`${verdict.padEnd(8)} ${title.padEnd(20)} ${message}${advice === '' ? '' : `; ${advice}`}`);
  for (const { resource, version, count } of plan.removals)
    context.print(`removed  ${resource.padEnd(20)} ${count} objects are stored as ${version}`);
  for (const [index, { title }] of plan.steps.entries()) context.print(`${index + 1}. ${inEnglish(title)}`);
};

const plan = async (
  dataDirectory: string,
  version: string,
  json: boolean,
  context: CommandContext,
): Promise<number> => {
  try {
    const found = await callControl(dataDirectory, 'upgrade.plan', { version });
    if (json) context.print(jsonOf({ ...found, checks: found.checks.map(inWords) }));
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
  else if (targets.length === 0) context.print(`the cluster runs ${current}, the latest supported version`);
  else
    context.print(
      `the cluster is stopped at ${current}; start it, then run pilothouse upgrade apply ${targets[0]}`,
    );
  return EXIT_OK;
};

const hold = async (
  dataDirectory: string,
  verb: 'pause' | 'resume',
  json: boolean,
  context: CommandContext,
): Promise<number> => {
  const isRunning = await callControl(dataDirectory, `upgrade.${verb}`, {});
  if (!isRunning) throw new ReasonError('NotFound', 'no upgrade is in progress');
  if (json) context.print(JSON.stringify({ [verb]: true }));
  else
    context.print(verb === 'pause' ? 'the upgrade will pause before its next step' : 'the upgrade resumes');
  return EXIT_OK;
};

export const upgrade: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb = '', target, ...more] = words;
    const { dataDirectory, json } = parseOptions({}, rest, context);
    if (more.length > 0) throw usageError(`upgrade ${verb} accepts one version`);
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
    throw usageError('upgrade requires plan, apply VERSION, rollback, pause or resume');
  },
};
