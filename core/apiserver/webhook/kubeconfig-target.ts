import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { isJsonObject } from '../../api/meta/index.ts';
import type { WebhookTarget } from './target.ts';

type Fields = Readonly<Record<string, unknown>>;

const TEXT_LENGTH_MAX = 1024 * 1024;

const entryNamed = (config: Fields, list: string, name: string, part: string): Fields => {
  const entries: unknown = config[list];
  const found: unknown = Array.isArray(entries)
    ? entries.find((entry: unknown) => isJsonObject(entry) && entry['name'] === name)
    : undefined;
  const value = isJsonObject(found) ? found[part] : undefined;
  if (!isJsonObject(value)) throw new Error(`${list} has no entry ${JSON.stringify(name)}`);
  return value;
};

const textIn = (fields: Fields, name: string): string | undefined => {
  const value = fields[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw new Error(`${name} must be a string`);
  return value;
};

/** A value of the file itself (in base64), or the content of a file that it names. */
const pemIn = async (fields: Fields, name: string, folder: string): Promise<string | undefined> => {
  const data = textIn(fields, `${name}-data`);
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  const file = textIn(fields, name);
  return file === undefined ? undefined : readFile(resolve(folder, file), 'utf8');
};

const REJECTED = ['exec', 'auth-provider', 'username', 'password', 'as'];

const targetOf = async (text: string, folder: string): Promise<WebhookTarget> => {
  const document = parseDocument(text);
  if (text.length > TEXT_LENGTH_MAX || document.errors.length > 0) throw new Error('is not valid YAML');
  const config: unknown = document.toJS({ maxAliasCount: 0 });
  if (!isJsonObject(config) || config['kind'] !== 'Config') throw new Error('is not a kubeconfig');
  const contextName = textIn(config, 'current-context');
  if (contextName === undefined) throw new Error('has no current-context');
  const context = entryNamed(config, 'contexts', contextName, 'context');
  const cluster = entryNamed(config, 'clusters', textIn(context, 'cluster') ?? '', 'cluster');
  const userName = textIn(context, 'user');
  const user = userName === undefined ? {} : entryNamed(config, 'users', userName, 'user');
  const refused = REJECTED.find((name) => user[name] !== undefined);
  if (refused !== undefined) throw new Error(`users: ${refused} is not supported for webhooks`);
  if (cluster['insecure-skip-tls-verify'] === true)
    throw new Error('clusters: insecure-skip-tls-verify is not supported for webhooks');
  const server = textIn(cluster, 'server');
  if (server === undefined || !server.startsWith('https://'))
    throw new Error('the server must be an https URL');
  const authority = await pemIn(cluster, 'certificate-authority', folder);
  const [certPem, keyPem] = await Promise.all([
    pemIn(user, 'client-certificate', folder),
    pemIn(user, 'client-key', folder),
  ]);
  if ((certPem === undefined) !== (keyPem === undefined))
    throw new Error('users: client-certificate and client-key must be given together');
  return {
    url: server,
    ...(authority !== undefined && { caBundle: Buffer.from(authority).toString('base64') }),
    credentials: { certPem, keyPem, bearerToken: textIn(user, 'token') },
  };
};

/** The server and the credentials of a kubeconfig's current context, as upstream configures its own webhooks. */
export const kubeconfigTarget = async (file: string): Promise<WebhookTarget> => {
  try {
    return await targetOf(await readFile(file, 'utf8'), dirname(file));
  } catch (cause) {
    throw new ReasonError('BadConfiguration', `${file}: ${messageOf(cause)}`, { cause });
  }
};
