import { systemClock } from '../../../core/base/node/clock.ts';
import { requireCluster } from '../../../core/cluster/index.ts';
import { listExpiry, renewAll, renewCertificate } from '../../../core/pki/index.ts';
import {
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';

const USAGE = `  pilothouse certs check-expiration [--data DIR] [-o json]
  pilothouse certs renew all|NAME [--data DIR] [-o json]

  renew issues certificates anew, with a fresh key, from the cluster's own authorities; NAME is as check-expiration
  prints it. Components of a running cluster take renewed files up by themselves.`;

const DAY_MS = 86_400_000;
const YEAR_DAYS = 365;

const residual = (ms: number): string => {
  if (ms < 0) return 'expired';
  const days = Math.floor(ms / DAY_MS);
  return days > YEAR_DAYS * 2 ? `${Math.floor(days / YEAR_DAYS)}y` : `${days}d`;
};

const checkExpiration = async (args: readonly string[], context: CommandContext): Promise<void> => {
  const { dataDirectory, json } = parseOptions({}, args, context);
  await requireCluster(dataDirectory);
  const list = await listExpiry(dataDirectory, systemClock);
  if (json) return context.print(JSON.stringify(list));
  context.print(`${'CERTIFICATE'.padEnd(32)} ${'EXPIRES'.padEnd(22)} ${'RESIDUAL'.padEnd(9)} AUTHORITY`);
  for (const { name, notAfterMs, residualMs, authority, isAuthority } of list) {
    const expires = new Date(notAfterMs).toISOString().replace(/\.\d+/, '');
    const signer = isAuthority ? '(itself)' : (authority ?? 'unknown');
    context.print(`${name.padEnd(32)} ${expires.padEnd(22)} ${residual(residualMs).padEnd(9)} ${signer}`);
  }
};

const renew = async (name: string, args: readonly string[], context: CommandContext): Promise<void> => {
  const { dataDirectory, json } = parseOptions({}, args, context);
  await requireCluster(dataDirectory);
  let renewed = [name];
  if (name === 'all') renewed = await renewAll(dataDirectory, systemClock);
  else await renewCertificate(dataDirectory, name, systemClock);
  if (json) context.print(JSON.stringify({ renewed }));
  else for (const one of renewed) context.print(`renewed ${one}`);
};

export const certs: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb, name, ...more] = words;
    if (verb === 'check-expiration' && name === undefined) await checkExpiration(rest, context);
    else if (verb === 'renew' && name !== undefined && more.length === 0) await renew(name, rest, context);
    else throw usageError('certs takes check-expiration, renew all or renew NAME');
    return EXIT_OK;
  },
};
