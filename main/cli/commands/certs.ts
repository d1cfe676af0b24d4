import { naturalOrder } from '../../../core/base/natural-order.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { requireCluster } from '../../../core/cluster/data-folder/open.ts';
import { listServedCertificates } from '../../../core/cluster/monitor/certificates/certificates.ts';
import type { CertificateView } from '../../../core/contract/index.ts';
import { renewAll, renewCertificate } from '../../../core/pki/index.ts';
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

  check-expiration reads the certificate files and compares them with what each server presents.
  renew issues new certificates and keys from the cluster's CAs. NAME is a name printed by check-expiration. Running
  components reload renewed files automatically.`;

const DAY_MS = 86_400_000;
const YEAR_DAYS = 365;

const residual = (ms: number): string => {
  if (ms < 0) return 'expired';
  const days = Math.floor(ms / DAY_MS);
  return days > YEAR_DAYS * 2 ? `${Math.floor(days / YEAR_DAYS)}y` : `${days}d`;
};

/** What a server presents, beside what is in its file. */
const servedText = ({ served, serial, notAfterMs }: CertificateView, nowMs: number): string => {
  if (served === null) return '-';
  if (served.serial === serial) return `${residual(notAfterMs - nowMs)} ${served.address}`;
  return `${residual(served.notAfterMs - nowMs)} ${served.address} (differs from file)`;
};

const checkExpiration = async (args: readonly string[], context: CommandContext): Promise<void> => {
  const { dataDirectory, json } = parseOptions({}, args, context);
  const config = await requireCluster(dataDirectory);
  const nowMs = systemClock.nowMs();
  const list = (await listServedCertificates(dataDirectory, config))
    .map((view) => ({ ...view, residualMs: view.notAfterMs - nowMs }))
    .sort((a, b) => a.notAfterMs - b.notAfterMs || naturalOrder(a.name, b.name));
  if (json) return context.print(JSON.stringify(list));
  const row = (...cells: readonly [string, string, string, string, string]): string =>
    `${cells[0].padEnd(32)} ${cells[1].padEnd(22)} ${cells[2].padEnd(9)} ${cells[3].padEnd(28)} ${cells[4]}`;
  context.print(row('CERTIFICATE', 'EXPIRES', 'RESIDUAL', 'SERVED NOW', 'AUTHORITY'));
  for (const view of list) {
    const expires = new Date(view.notAfterMs).toISOString().replace(/\.\d+/, '');
    const signer = view.kind === 'authority' ? '(self-signed)' : view.authority || 'unknown';
    context.print(row(view.name, expires, residual(view.residualMs), servedText(view, nowMs), signer));
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
    else throw usageError('certs requires check-expiration, renew all or renew NAME');
    return EXIT_OK;
  },
};
