import { lineDiff } from '../../../core/base/line-diff.ts';
import { discover, type Client } from '../../../core/client/index.ts';
import { describeRelease, listReleases, rollback, uninstall } from '../../../core/cluster/helm/index.ts';
import { inEnglish, type HelmChangeReport, type HelmRevision } from '../../../core/contract/index.ts';
import {
  EXIT_FAILURE,
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';
import { CLIENT_OPTIONS, openClient } from '../open-client.ts';

const OPTIONS = {
  namespace: { type: 'string', short: 'n' },
  revision: { type: 'string' },
  ...CLIENT_OPTIONS,
  'dry-run': { type: 'boolean' },
} as const;

interface Wishes {
  readonly namespace?: string;
  readonly revision?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly 'dry-run'?: boolean;
}

const USAGE = `  pilothouse helm list [-n NAMESPACE] [--kubeconfig FILE] [--context NAME] [--data DIR] [-o json]
  pilothouse helm status NAME [-n NAMESPACE] [--revision N] [--kubeconfig FILE] [--context NAME] [--data DIR] [-o json]
  pilothouse helm values NAME [-n NAMESPACE] [--revision N] [--kubeconfig FILE] [--context NAME] [--data DIR] [-o json]
  pilothouse helm history NAME [-n NAMESPACE] [--kubeconfig FILE] [--context NAME] [--data DIR] [-o json]
  pilothouse helm diff NAME REVISION REVISION [-n NAMESPACE] [--kubeconfig FILE] [--context NAME] [--data DIR]
  pilothouse helm rollback NAME REVISION [-n NAMESPACE] [--dry-run] [--kubeconfig FILE] [--context NAME]
                           [--data DIR] [-o json]
  pilothouse helm uninstall NAME [-n NAMESPACE] [--dry-run] [--kubeconfig FILE] [--context NAME] [--data DIR] [-o json]

  Reads Helm releases from their Secrets; no helm binary is needed. status shows notes and the health of managed
  objects, diff compares the manifests of two revisions. rollback and uninstall do not run hooks; they name them.`;

const wholeNumber = (what: string, text: string | undefined): number => {
  if (text === undefined || !/^[1-9]\d{0,8}$/.test(text))
    throw usageError(`${what} must be a revision such as 3`);
  return Number(text);
};

const lineOf = ({
  namespace,
  name,
  revision,
  status,
  updatedAtMs,
  chart,
  appVersion,
}: HelmRevision): string =>
  [
    `${namespace}/${name}`.padEnd(36),
    String(revision).padStart(4),
    status.padEnd(12),
    (updatedAtMs === null ? '' : new Date(updatedAtMs).toISOString().replace(/\.\d+/, '')).padEnd(20),
    chart,
    appVersion,
  ]
    .join('  ')
    .trimEnd();

const printReport = (
  report: HelmChangeReport,
  isDry: boolean,
  json: boolean,
  context: CommandContext,
): number => {
  const warnings = report.warnings.map(inEnglish);
  if (json) context.print(JSON.stringify({ ...report, warnings }));
  else {
    for (const { kind, namespace, name, outcome, message } of report.steps)
      context.print(
        `${kind} ${namespace === '' ? name : `${namespace}/${name}`} ${outcome}${isDry ? ' (dry run)' : ''}${message === null ? '' : `: ${inEnglish(message)}`}`,
      );
    for (const warning of warnings) context.print(`warning: ${warning}`);
    if (report.revision !== null) context.print(`revision ${report.revision}`);
  }
  return report.steps.some(({ outcome }) => outcome === 'failed') ? EXIT_FAILURE : EXIT_OK;
};

const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

const withClient = async <T>(
  data: string,
  wishes: Wishes,
  context: CommandContext,
  run: (client: Client) => Promise<T>,
): Promise<T> => {
  const { client } = await openClient(wishes, {
    dataDirectory: data,
    cwd: context.cwd,
    userAgent: 'pilothouse-helm',
  });
  try {
    return await run(client);
  } finally {
    client.dispose();
  }
};

export const helm: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb, name, ...more] = words;
    const { values, dataDirectory, json } = parseOptions(OPTIONS, rest, context);
    const wishes = values as Wishes;
    const namespace = wishes.namespace ?? 'default';
    const isDry = wishes['dry-run'] === true;
    return withClient(dataDirectory, wishes, context, async (client) => {
      if (verb === 'list' && name === undefined) {
        const { releases } = await listReleases(client, wishes.namespace ?? '');
        if (json) context.print(JSON.stringify(releases));
        else for (const release of releases) context.print(lineOf(release));
        return EXIT_OK;
      }
      if (name === undefined)
        throw usageError(
          'helm requires list, status, values, history, diff, rollback or uninstall with a NAME',
        );
      if (!NAME.test(name)) throw usageError(`"${name}" is not the name of a release`);
      const resources = async () => (await discover(client)).resources;
      const describe = async (revision: number | null) =>
        describeRelease(client, await resources(), { namespace, name, revision });
      const changing = { client, resources, nowMs: () => Date.now(), dryRun: isDry };
      const asked = wishes.revision === undefined ? null : wholeNumber('--revision', wishes.revision);
      switch (verb ?? '') {
        case 'status': {
          const release = await describe(asked);
          if (json) context.print(JSON.stringify(release));
          else {
            context.print(lineOf(release));
            for (const { kind, namespace: of, name: object, health, figures } of release.objects)
              context.print(
                `  ${health.padEnd(12)} ${kind} ${of === '' ? object : `${of}/${object}`}${figures === '' ? '' : `  ${figures}`}`,
              );
            if (release.notes !== '') context.print(release.notes.trimEnd());
          }
          return EXIT_OK;
        }
        case 'values': {
          const { values: own } = await describe(asked);
          context.print(json ? JSON.stringify({ values: own }) : own.trimEnd());
          return EXIT_OK;
        }
        case 'history': {
          const { history } = await describe(null);
          if (json) context.print(JSON.stringify(history));
          else for (const one of history) context.print(`${lineOf(one)}  ${one.description}`);
          return EXIT_OK;
        }
        case 'diff': {
          const [from, to] = [wholeNumber('REVISION', more[0]), wholeNumber('REVISION', more[1])];
          const [before, after] = [await describe(from), await describe(to)];
          for (const line of lineDiff(before.manifest, after.manifest))
            context.print(
              `${line.kind === 'added' ? '+' : line.kind === 'removed' ? '-' : ' '} ${line.text}`,
            );
          return EXIT_OK;
        }
        case 'rollback':
          return printReport(
            await rollback(changing, { namespace, name }, wholeNumber('REVISION', more[0])),
            isDry,
            json,
            context,
          );
        case 'uninstall':
          return printReport(await uninstall(changing, { namespace, name }), isDry, json, context);
        default:
          throw usageError('helm requires list, status, values, history, diff, rollback or uninstall');
      }
    });
  },
};
