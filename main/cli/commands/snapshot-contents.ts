import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { messageOf, ReasonError } from '../../../core/base/errors.ts';
import { lineDiff } from '../../../core/base/line-diff.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { RESOURCES } from '../../../core/api/scheme/index.ts';
import { discover } from '../../../core/client/index.ts';
import { withAny } from '../../../core/cluster/etcd-operator/operations.ts';
import {
  compareMoments,
  contentsOf,
  encryptionFilesOf,
  etcdSource,
  listObjects,
  openDecoder,
  openSnapshotSource,
  prefixOf,
  REGISTRY,
  restoreObjects,
  type Decoder,
  type SnapshotSource,
  type Source,
} from '../../../core/cluster/history/index.ts';
import { requireCluster } from '../../../core/cluster/data-folder/open.ts';
import { inEnglish, type HistorySelection } from '../../../core/contract/index.ts';
import { EXIT_FAILURE, EXIT_OK, parseOptions, usageError, type CommandContext } from '../command.ts';
import { CLIENT_OPTIONS, openClient } from '../open-client.ts';
import { etcdOf } from './etcd-target.ts';

export const CONTENTS_VERBS = ['browse', 'show', 'diff', 'restore-object'] as const;
export type ContentsVerb = (typeof CONTENTS_VERBS)[number];

const OPTIONS = {
  namespace: { type: 'string', short: 'n' },
  'encryption-provider-config': { type: 'string' },
  ...CLIENT_OPTIONS,
  'whole-namespace': { type: 'boolean' },
  all: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
} as const;

/** Changes that are printed; the counts say how many there are. */
const CHANGES_MAX = 10_000;

interface Wishes {
  readonly namespace?: string;
  readonly 'encryption-provider-config'?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly 'whole-namespace'?: boolean;
  readonly all?: boolean;
  readonly 'dry-run'?: boolean;
}

interface Opened {
  readonly source: SnapshotSource;
  readonly decoder: Decoder;
  readonly wishes: Wishes;
  readonly data: string;
  readonly json: boolean;
}

interface Resource {
  readonly group: string;
  readonly plural: string;
}

/** `cm`, `configmaps`, `ConfigMap`, `deployments.apps`, and custom resources by the names that the snapshot has. */
const resourceOf = async (word: string, source: Source): Promise<Resource> => {
  const built = RESOURCES.find(
    ({ plural, singular, kind, shortNames, group, storage }) =>
      storage !== undefined &&
      [plural, singular, kind.toLowerCase(), `${plural}.${group}`, ...shortNames].includes(
        word.toLowerCase(),
      ),
  );
  if (built) return built;
  const { rows } = await contentsOf(source);
  const found = rows.find(({ group, plural }) => word === plural || word === `${plural}.${group}`);
  if (found) return found;
  const known = rows.map(({ group, plural }) => (group === '' ? plural : `${plural}.${group}`)).join(', ');
  throw new ReasonError('NotFound', `the snapshot has no resource "${word}"; it has ${known}`);
};

const keyOf = async (source: Source, resource: Resource, name: string, wishes: Wishes): Promise<string> => {
  const namespace = wishes.namespace ?? 'default';
  const { rows } = await listObjects(source, { ...resource, namespace: '', filter: name });
  const found = rows.find((row) => row.name === name && (!row.namespaced || row.namespace === namespace));
  if (found) return found.key;
  const elsewhere = rows.find((row) => row.name === name);
  const hint = elsewhere ? `; it is in namespace ${elsewhere.namespace}, add -n ${elsewhere.namespace}` : '';
  throw new ReasonError(
    'NotFound',
    `the snapshot has no ${resource.plural} "${name}" in namespace ${namespace}${hint}`,
  );
};

const readObject = async (
  source: Source,
  decoder: Decoder,
  key: string,
): Promise<Record<string, unknown>> => {
  const stored = await source.read(key);
  if (!stored) throw new ReasonError('NotFound', `${key} does not exist`);
  const { object, problem } = await decoder.decode(stored);
  if (!object) throw new ReasonError('Unreadable', inEnglish(problem));
  return object as Record<string, unknown>;
};

const browse = async (
  words: readonly string[],
  { source, wishes, json }: Opened,
  context: CommandContext,
) => {
  const [resource] = words;
  if (resource === undefined) {
    const contents = await contentsOf(source);
    if (json) return context.print(JSON.stringify(contents));
    context.print(`revision ${contents.revision}`);
    for (const { group, plural, count } of contents.rows)
      context.print(`${(group === '' ? plural : `${plural}.${group}`).padEnd(56)} ${count}`);
    return;
  }
  const found = await resourceOf(resource, source);
  const list = await listObjects(source, { ...found, namespace: wishes.namespace ?? '', filter: '' });
  if (json) return context.print(JSON.stringify(list));
  for (const { namespace, name, modRevision } of list.rows)
    context.print(`${namespace === '' ? name : `${namespace}/${name}`}  revision ${modRevision}`);
  if (list.total > list.rows.length)
    context.note(`${list.total - list.rows.length} more; choose a namespace with -n`);
};

const show = async (words: readonly string[], opened: Opened, context: CommandContext) => {
  const [resource, name] = words;
  if (resource === undefined || name === undefined)
    throw usageError('snapshot show needs FILE RESOURCE NAME');
  const { source, decoder, wishes, json } = opened;
  const object = await readObject(
    source,
    decoder,
    await keyOf(source, await resourceOf(resource, source), name, wishes),
  );
  context.print(json ? JSON.stringify(object) : stringify(object, { lineWidth: 0 }).trimEnd());
};

const diff = async (words: readonly string[], opened: Opened, context: CommandContext) => {
  const [resource, name] = words;
  const { source, decoder, wishes, data, json } = opened;
  const found = resource === undefined ? undefined : await resourceOf(resource, source);
  await withAny(await etcdOf(data), async (member) => {
    const now = await etcdSource(member);
    if (found && name !== undefined) {
      const key = await keyOf(source, found, name, wishes);
      const stored = await now.read(key);
      const [before, after] = [
        await readObject(source, decoder, key),
        stored && (await readObject(now, decoder, key)),
      ];
      if (json) return context.print(JSON.stringify({ snapshot: before, now: after ?? null }));
      const text = (object: unknown): string =>
        object === undefined ? '' : stringify(object, { lineWidth: 0 });
      for (const line of lineDiff(text(before), text(after)))
        context.print(`${line.kind === 'added' ? '+' : line.kind === 'removed' ? '-' : ' '} ${line.text}`);
      return;
    }
    const prefix = found ? prefixOf(found, wishes.namespace) : REGISTRY;
    const options = { prefix, objectsMax: CHANGES_MAX, signal: context.signal };
    const compared = await compareMoments([source, now], decoder, options);
    const isWanted = ({ namespace }: { readonly namespace: string }): boolean =>
      wishes.namespace === undefined || namespace === wishes.namespace;
    const objects = compared.objects.filter(isWanted);
    if (json)
      return context.print(
        JSON.stringify({ ...compared, objects, fromRevision: source.revision, toRevision: now.revision }),
      );
    const signs = { added: '+', removed: '-', changed: '~', status: 's' } as const;
    for (const { change, plural, group, namespace, name: object } of objects)
      context.print(
        `${signs[change]} ${group === '' ? plural : `${plural}.${group}`} ${namespace === '' ? object : `${namespace}/${object}`}`,
      );
    const { added, removed, changed, status } = compared.counts;
    context.note(
      `revision ${source.revision} to ${now.revision}: ${added} added, ${removed} removed, ${changed} changed, ${status} with another status, ${compared.same} equal`,
    );
  });
};

const selectionOf = async (
  words: readonly string[],
  { source, wishes }: Opened,
): Promise<HistorySelection> => {
  const [resource, name] = words;
  if (wishes.all) return { kind: 'all' };
  if (wishes['whole-namespace']) {
    if (wishes.namespace === undefined) throw usageError('--whole-namespace needs -n NAMESPACE');
    return { kind: 'namespace', namespace: wishes.namespace };
  }
  if (resource === undefined || name === undefined)
    throw usageError(
      'snapshot restore-object needs FILE RESOURCE NAME, or --whole-namespace -n NAMESPACE, or --all',
    );
  return { kind: 'objects', keys: [await keyOf(source, await resourceOf(resource, source), name, wishes)] };
};

const restore = async (
  words: readonly string[],
  opened: Opened,
  context: CommandContext,
): Promise<number> => {
  const { source, decoder, wishes, data, json } = opened;
  const selection = await selectionOf(words, opened);
  const dryRun = wishes['dry-run'] === true;
  const { client } = await openClient(wishes, {
    dataDirectory: data,
    cwd: context.cwd,
    userAgent: 'pilothouse-restore',
  });
  let known: Awaited<ReturnType<typeof discover>>['resources'] | undefined;
  const resources = async (isFresh: boolean) =>
    (known = known && !isFresh ? known : (await discover(client)).resources);
  const counts = { created: 0, replaced: 0, unchanged: 0, skipped: 0, failed: 0 };
  try {
    for await (const one of restoreObjects(selection, {
      client,
      resources,
      source,
      decoder,
      dryRun,
      signal: context.signal,
    })) {
      counts[one.outcome] += 1;
      const warnings = one.warnings.map(inEnglish);
      const message = one.message === null ? '' : inEnglish(one.message);
      if (json) {
        const { live: _live, result: _result, ...rest } = one;
        context.print(JSON.stringify({ ...rest, message, warnings, dryRun }));
      } else if (one.outcome !== 'unchanged') {
        const what = `${one.kind} ${one.namespace === '' ? one.name : `${one.namespace}/${one.name}`}`;
        context.print(
          `${what} ${one.outcome}${dryRun ? ' (dry run)' : ''}${message === '' ? '' : `: ${message}`}`,
        );
        for (const warning of warnings) context.print(`  warning: ${warning}`);
      }
    }
  } finally {
    client.dispose();
  }
  if (!json)
    context.note(
      Object.entries(counts)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(', '),
    );
  return counts.failed > 0 ? EXIT_FAILURE : EXIT_OK;
};

/** Commands that look into a snapshot file, and take single objects out of it. */
export const runContents = async (
  verb: ContentsVerb,
  [file, ...words]: readonly string[],
  args: readonly string[],
  context: CommandContext,
): Promise<number> => {
  if (file === undefined) throw usageError(`snapshot ${verb} needs a FILE`);
  const { values, dataDirectory: data, json } = parseOptions(OPTIONS, args, context);
  const wishes = values as Wishes;
  const given = wishes['encryption-provider-config'];
  const path = resolve(context.cwd, file);
  const own = await requireCluster(data).catch(() => undefined);
  const keys =
    given === undefined ? (own ? await encryptionFilesOf(data, own) : []) : [resolve(context.cwd, given)];
  const source = await openSnapshotSource(path).catch((cause: unknown) => {
    throw new ReasonError('Damaged', `${path}: ${messageOf(cause)}`, { cause });
  });
  try {
    const decoder = await openDecoder(keys, systemClock);
    try {
      const opened: Opened = { source, decoder, wishes, data, json };
      if (verb === 'restore-object') return await restore(words, opened, context);
      await { browse, show, diff }[verb](words, opened, context);
      return EXIT_OK;
    } finally {
      decoder.dispose();
    }
  } finally {
    await source.close();
  }
};
