import { readFile } from 'node:fs/promises';
import { parseDurationMs } from '../../../core/base/duration.ts';
import { ReasonError } from '../../../core/base/errors.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import type { ClientConfig } from '../../../core/client/index.ts';
import { authorityHashes } from '../../../core/cluster/bootstrap-tokens/authority-hash.ts';
import {
  formatToken,
  parseToken,
  tokenIdOf,
  USAGES,
  type TokenRecord,
  type TokenUsage,
} from '../../../core/cluster/bootstrap-tokens/bootstrap-token.ts';
import { joinWords } from '../../../core/cluster/bootstrap-tokens/join-words.ts';
import { createToken, deleteToken, listTokens } from '../../../core/cluster/bootstrap-tokens/tokens.ts';
import { advertisedEndpoint } from '../../../core/cluster/config/endpoints.ts';
import {
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';
import { CLIENT_OPTIONS, openClient, type OpenedClient } from '../open-client.ts';

const OPTIONS = {
  ...CLIENT_OPTIONS,
  ttl: { type: 'string' },
  usages: { type: 'string' },
  groups: { type: 'string' },
  description: { type: 'string' },
  'print-join-command': { type: 'boolean' },
} as const;

type Values = Partial<Record<Exclude<keyof typeof OPTIONS, 'print-join-command'>, string>> & {
  readonly 'print-join-command'?: boolean;
};

const list = (text: string | undefined): readonly string[] | undefined =>
  text?.split(',').flatMap((one) => one.trim() || []);

const usagesOf = (text: string | undefined): readonly TokenUsage[] | undefined =>
  list(text)?.map((one) => {
    const usage = USAGES.find((known) => known === one);
    if (usage === undefined) throw usageError(`--usages takes ${USAGES.join(',')}, not "${one}"`);
    return usage;
  });

const ttlOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const ms = parseDurationMs(text);
  if (ms === undefined || ms < 0)
    throw usageError(`--ttl must be a duration such as 24h or 0, not "${text}"`);
  return ms;
};

const authorityOf = async ({ authority }: ClientConfig): Promise<string> =>
  authority?.data ?? (authority?.file === undefined ? '' : readFile(authority.file, 'utf8'));

/** The command line for another machine; kubeadm takes the same words after `join`. */
const joinCommand = async ({ config, cluster }: OpenedClient, token: TokenRecord): Promise<string> => {
  const [hash] = authorityHashes(await authorityOf(config));
  if (hash === undefined)
    throw new ReasonError('NoAuthority', 'the kubeconfig names no certificate authority to pin');
  const { hostname, port } = new URL(config.servers[0] ?? '');
  const named = cluster && advertisedEndpoint(cluster);
  const endpoint = named ? `${named.address}:${named.port}` : `${hostname}:${port || 443}`;
  return `pilothouse ${joinWords(endpoint, token, hash)}`;
};

const jsonOf = ({ expiresMs, ...token }: TokenRecord) => ({
  ...token,
  token: formatToken(token),
  expires: expiresMs === undefined ? null : new Date(expiresMs).toISOString(),
});

const create = async (
  opened: OpenedClient,
  {
    text,
    values,
    json,
  }: { readonly text: string | undefined; readonly values: Values; readonly json: boolean },
  context: CommandContext,
): Promise<void> => {
  const [ttlMs, usages, groups] = [ttlOf(values.ttl), usagesOf(values.usages), list(values.groups)];
  const token = await createToken(
    opened.client,
    {
      ...(text !== undefined && { token: parseToken(text) }),
      ...(ttlMs !== undefined && { ttlMs }),
      ...(usages && { usages }),
      ...(groups && { groups }),
      ...(values.description !== undefined && { description: values.description }),
    },
    systemClock.nowMs(),
  );
  const command = values['print-join-command'] === true ? await joinCommand(opened, token) : undefined;
  if (json) context.print(JSON.stringify({ ...jsonOf(token), ...(command !== undefined && { command }) }));
  else context.print(command ?? formatToken(token));
  if (command !== undefined && opened.cluster?.spec.advertiseAddress === undefined && opened.cluster)
    context.note(
      'pilothouse: only this machine reaches this address; name one that others reach with pilothouse up --advertise-address',
    );
};

const remaining = (expiresMs: number | undefined): string => {
  if (expiresMs === undefined) return '<forever>';
  const minutes = Math.floor((expiresMs - systemClock.nowMs()) / 60_000);
  if (minutes < 0) return '<expired>';
  return minutes < 120 ? `${minutes}m` : `${Math.floor(minutes / 60)}h`;
};

const print = async (opened: OpenedClient, json: boolean, context: CommandContext): Promise<void> => {
  const tokens = await listTokens(opened.client);
  if (json) return context.print(JSON.stringify(tokens.map(jsonOf)));
  const row = (...[token = '', ttl = '', usages = '', ...rest]: string[]): string =>
    `${token.padEnd(24)} ${ttl.padEnd(10)} ${usages.padEnd(23)} ${rest.join(' ')}`.trimEnd();
  context.print(row('TOKEN', 'TTL', 'USAGES', 'DESCRIPTION'));
  for (const token of tokens)
    context.print(
      row(formatToken(token), remaining(token.expiresMs), token.usages.join(','), token.description),
    );
};

export const token: Command = {
  usage: `  pilothouse token create [TOKEN] [--ttl 24h] [--usages signing,authentication] [--groups GROUP,GROUP]
                [--description TEXT] [--print-join-command] [--kubeconfig FILE] [--context NAME] [--data DIR] [-o json]
  pilothouse token list [--kubeconfig FILE] [--context NAME] [--data DIR] [-o json]
  pilothouse token delete ID|TOKEN [--kubeconfig FILE] [--context NAME] [--data DIR] [-o json]

  Bootstrap tokens, with which machines join the cluster (pilothouse join, kubeadm join). A token may be used by anyone
  who knows it until it expires. --ttl 0 creates one that never expires.`,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb = '', text, ...more] = words;
    const isKnown =
      verb === 'create' || (verb === 'list' && text === undefined) || (verb === 'delete' && text);
    if (!isKnown || more.length > 0) throw usageError('token requires create [TOKEN], list or delete ID');
    const { values, dataDirectory, json } = parseOptions(OPTIONS, rest, context);
    const given = values as Values;
    const unused = Object.keys(given).find((name) => name in OPTIONS && !(name in CLIENT_OPTIONS));
    if (verb !== 'create' && unused !== undefined)
      throw usageError(`token ${verb} does not accept --${unused}`);
    const opened = await openClient(given, {
      dataDirectory,
      cwd: context.cwd,
      userAgent: 'pilothouse-token',
    });
    try {
      if (verb === 'create') await create(opened, { text, values: given, json }, context);
      else if (verb === 'list') await print(opened, json, context);
      else {
        const id = tokenIdOf(text!);
        await deleteToken(opened.client, id);
        context.print(json ? JSON.stringify({ deleted: id }) : `token ${id} deleted`);
      }
    } finally {
      opened.client.dispose();
    }
    return EXIT_OK;
  },
};
