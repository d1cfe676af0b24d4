import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ReasonError } from '../../../core/base/errors.ts';
import { writeFileAtomically } from '../../../core/base/node/atomic-file.ts';
import { parseEncryptionConfiguration } from '../../../core/apiserver/encryption/index.ts';
import { callControl } from '../../../core/cluster/control/client.ts';
import { keyNames, writtenPrefixes } from '../../../core/cluster/data-folder/encryption-configuration.ts';
import { encryptionFileOf } from '../../../core/cluster/data-folder/configured-file.ts';
import { openKeys, sealKeys } from '../../../core/cluster/encryption/key-bundle.ts';
import { requireCluster } from '../../../core/cluster/data-folder/open.ts';
import {
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';

const USAGE = `  pilothouse encryption status [--data DIR] [-o json]
  pilothouse encryption enable [--data DIR] [-o json]
  pilothouse encryption rotate [--data DIR] [-o json]
  pilothouse encryption export FILE --passphrase-file FILE [--data DIR] [-o json]
  pilothouse encryption import FILE --passphrase-file FILE [--data DIR] [-o json]

  status shows what is encrypted in etcd, and with which keys. enable turns encryption of Secrets on for a cluster that
  was created without it. rotate replaces the keys of the running cluster without downtime and encrypts stored objects
  again; if it is interrupted, run it again to resume. Snapshots contain no keys: export writes them to a file that is
  protected by a passphrase, and import puts them back after the data directory was lost.`;

const fileOf = async (data: string): Promise<string> => {
  const file = await encryptionFileOf(data, await requireCluster(data));
  if (file !== undefined) return file;
  throw new ReasonError(
    'NotFound',
    'encryption at rest is not configured; turn it on with pilothouse encryption enable',
  );
};

const status = async (data: string, json: boolean, context: CommandContext): Promise<void> => {
  const file = await fileOf(data);
  const text = await readFile(file, 'utf8');
  parseEncryptionConfiguration(text);
  const found = { file, resources: writtenPrefixes(text), keys: keyNames(text) };
  if (json) return context.print(JSON.stringify(found));
  for (const { resource, prefix } of found.resources)
    context.print(`${resource.padEnd(20)} ${prefix === '' ? 'plain' : `written as ${prefix}`}`);
  for (const names of found.keys) context.print(`keys: ${names.join(', ')}`);
};

const PASSPHRASE_OPTION = { 'passphrase-file': { type: 'string' } } as const;

const passphraseOf = async (path: string | undefined, context: CommandContext): Promise<string> => {
  if (path === undefined) throw usageError('--passphrase-file must be given');
  return (await readFile(resolve(context.cwd, path), 'utf8')).replace(/\r?\n$/, '');
};

const transfer = async (
  verb: 'export' | 'import',
  file: string,
  args: readonly string[],
  context: CommandContext,
): Promise<void> => {
  const { values, dataDirectory, json } = parseOptions(PASSPHRASE_OPTION, args, context);
  const passphrase = await passphraseOf(
    (values as { 'passphrase-file'?: string })['passphrase-file'],
    context,
  );
  const path = resolve(context.cwd, file);
  const own = await fileOf(dataDirectory);
  if (verb === 'export') {
    if (existsSync(path))
      throw new ReasonError('AlreadyExists', `${path} already exists; choose another name`);
    await writeFileAtomically(path, await sealKeys(await readFile(own, 'utf8'), passphrase));
  } else {
    const text = await openKeys(await readFile(path, 'utf8'), passphrase);
    parseEncryptionConfiguration(text);
    if (existsSync(own) && (await readFile(own, 'utf8')) !== text)
      throw new ReasonError('AlreadyExists', `${own} already exists; move it away first`);
    await writeFileAtomically(own, text);
  }
  const outcome = verb === 'export' ? { exported: path } : { imported: own };
  context.print(
    json ? JSON.stringify(outcome) : `${verb}ed the encryption keys to ${verb === 'export' ? path : own}`,
  );
};

const change = async (
  verb: 'enable' | 'rotate',
  dataDirectory: string,
  json: boolean,
  context: CommandContext,
): Promise<void> => {
  const outcome = await callControl(dataDirectory, `encryption.${verb}`, {}, (line) => context.note(line));
  context.print(
    json ? JSON.stringify(outcome) : `encrypted ${outcome.rewritten} objects with ${outcome.keys.join(', ')}`,
  );
};

export const encryption: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb, file, ...more] = words;
    if (more.length > 0) throw usageError('encryption accepts one file');
    if ((verb === 'export' || verb === 'import') && file !== undefined) {
      await transfer(verb, file, rest, context);
      return EXIT_OK;
    }
    if (file !== undefined || (verb !== 'status' && verb !== 'enable' && verb !== 'rotate'))
      throw usageError('encryption requires status, enable, rotate, export FILE or import FILE');
    const { dataDirectory, json } = parseOptions({}, rest, context);
    if (verb === 'status') await status(dataDirectory, json, context);
    else await change(verb, dataDirectory, json, context);
    return EXIT_OK;
  },
};
