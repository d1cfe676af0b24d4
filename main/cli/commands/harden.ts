import { resolve } from 'node:path';
import * as v from 'valibot';
import { lineDiff } from '../../../core/base/line-diff.ts';
import { schemaFault } from '../../../core/base/parse-fault.ts';
import { callControl } from '../../../core/cluster/control/client.ts';
import { planHardening } from '../../../core/cluster/harden/plan.ts';
import { requireCluster } from '../../../core/cluster/data-folder/open.ts';
import {
  HARDENING_MEASURES,
  hardeningWishes,
  inEnglish,
  type HardeningFile,
  type HardeningPlan,
  type HardeningWishes,
} from '../../../core/contract/index.ts';
import {
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';

const USAGE = `  pilothouse harden plan [options] [--data DIR] [-o json]
  pilothouse harden apply [options] [--data DIR] [-o json]
  pilothouse harden rollback [--data DIR] [-o json]

  plan shows what would change, as a diff of manifests and configuration files. apply takes a snapshot, writes the
  files and restarts components one host at a time; a component that does not become ready gets its old manifest back.
  If it is interrupted, run the same command again to resume it. rollback reverts the last apply.

  --backup-directory DIR       save a snapshot there every day; choose another disk or machine
  --oidc-issuer-url URL        accept ID tokens of this issuer, for --oidc-client-id
  --oidc-client-id ID          client ID for which the tokens are issued
  --oidc-username-claim CLAIM  claim with the name of the user (default sub)
  --oidc-groups-claim CLAIM    claim with the groups of the user
  --skip MEASURE,...           leave out ${HARDENING_MEASURES.join(', ').replaceAll(/(.{60,90}?), /g, '$1,\n                               ')}`;

const OPTIONS = {
  skip: { type: 'string' },
  'backup-directory': { type: 'string' },
  'oidc-issuer-url': { type: 'string' },
  'oidc-client-id': { type: 'string' },
  'oidc-username-claim': { type: 'string' },
  'oidc-groups-claim': { type: 'string' },
} as const;

type Given = { readonly [K in keyof typeof OPTIONS]?: string };

const oidcOf = (given: Given): HardeningWishes['oidc'] => {
  const issuerUrl = given['oidc-issuer-url'];
  const clientId = given['oidc-client-id'];
  if (issuerUrl === undefined && clientId === undefined) return null;
  if (issuerUrl === undefined || clientId === undefined)
    throw usageError('--oidc-issuer-url and --oidc-client-id must be given together');
  return {
    issuerUrl,
    clientId,
    usernameClaim: given['oidc-username-claim'] ?? 'sub',
    groupsClaim: given['oidc-groups-claim'] ?? null,
  };
};

const wishesOf = (given: Given, context: CommandContext): HardeningWishes => {
  const directory = given['backup-directory'];
  const parsed = v.safeParse(hardeningWishes, {
    skip: (given.skip ?? '').split(',').filter((id) => id !== ''),
    backupDirectory: directory === undefined ? null : resolve(context.cwd, directory),
    oidc: oidcOf(given),
  });
  if (parsed.success) return parsed.output;
  throw usageError(schemaFault(parsed.issues));
};

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;

const printFile = (file: HardeningFile, context: CommandContext): void => {
  const [first, ...others] = file.hosts;
  context.print('');
  context.print(`--- ${file.before === null ? '/dev/null' : file.path}`);
  context.print(`+++ ${file.path}`);
  if (first !== undefined && others.length > 0) context.print(`@@ the same on ${others.join(', ')} @@`);
  const lines =
    file.before === null
      ? file.after
          .trimEnd()
          .split('\n')
          .map((text) => ({ kind: 'added' as const, text }))
      : lineDiff(file.before, file.after);
  for (const { kind, text } of lines) context.print(`${SIGNS[kind]}${text}`);
};

const printPlan = (plan: HardeningPlan, context: CommandContext): void => {
  for (const { id, title, state, detail } of plan.measures)
    context.print(
      `${state.padEnd(8)} ${id.padEnd(17)} ${inEnglish(title)}${detail ? `: ${inEnglish(detail)}` : ''}`,
    );
  for (const file of plan.files) printFile(file, context);
  if (plan.files.length > 0) context.print('');
  for (const note of plan.notes) context.print(inEnglish(note));
  if (plan.isUnfinished)
    context.print('incomplete; resume it with pilothouse harden apply, or run pilothouse harden rollback');
  else if (plan.steps.length > 0) context.print('roll it out with pilothouse harden apply');
};

export const harden: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb = 'plan', ...more] = words;
    if (more.length > 0 || !['plan', 'apply', 'rollback'].includes(verb))
      throw usageError('harden requires plan, apply or rollback');
    const { values, dataDirectory, json } = parseOptions(verb === 'rollback' ? {} : OPTIONS, rest, context);
    const note = (line: string): void => context.note(line);
    if (verb === 'rollback') {
      const outcome = await callControl(dataDirectory, 'harden.rollback', {}, note);
      context.print(json ? JSON.stringify(outcome) : `rolled back ${outcome.hosts.length} hosts`);
      return EXIT_OK;
    }
    const wishes = wishesOf(values as Given, context);
    if (verb === 'plan') {
      const plan = await planHardening(dataDirectory, await requireCluster(dataDirectory), wishes);
      if (json) context.print(JSON.stringify(plan));
      else printPlan(plan, context);
      return EXIT_OK;
    }
    const outcome = await callControl(
      dataDirectory,
      'harden.apply',
      { wishes: JSON.stringify(wishes) },
      note,
    );
    context.print(
      json
        ? JSON.stringify(outcome)
        : outcome.isChanged
          ? `hardened ${outcome.hosts.length} hosts; undo it with pilothouse harden rollback`
          : 'nothing to change',
    );
    return EXIT_OK;
  },
};
