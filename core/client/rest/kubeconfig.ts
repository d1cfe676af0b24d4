import { readFile, stat } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { parse } from 'yaml';
import { messageOf } from '../../base/errors.ts';
import { yamlFault } from '../../base/parse-fault.ts';
import { isJsonObject } from '../../api/meta/object-meta.ts';
import type { Impersonation } from '../client.ts';
import type { AuthConfig, ClientConfig, DataOrFile, ExecConfig } from './config.ts';
import { ClientError } from './errors.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface KubeconfigOptions {
  /** `current-context` without it. */
  readonly context?: string;
  /** Where relative paths of files start: the folder of the kubeconfig. */
  readonly folder?: string;
}

/** One entry of `contexts`, for those who let a user choose. */
export interface KubeconfigContext {
  readonly name: string;
  readonly cluster: string;
  readonly user: string;
  readonly namespace: string;
  readonly isCurrent: boolean;
}

const bad = (message: string, cause?: unknown): ClientError =>
  new ClientError('BadConfig', message, { cause });

const text = (fields: Fields, name: string): string | undefined => {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

const listOf = (config: Fields, name: string): readonly Fields[] => {
  const value = config[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
};

const entryOf = (config: Fields, list: string, name: string, field: string): Fields => {
  const found = listOf(config, list).find((entry) => entry['name'] === name);
  if (!found) throw bad(`${field} ${JSON.stringify(name)} not found in the kubeconfig`);
  return isJsonObject(found[field]) ? found[field] : {};
};

const decoded = (fields: Fields, name: string): string | undefined => {
  const value = text(fields, name);
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
};

export const parseKubeconfig = (source: string): Fields => {
  let config: unknown;
  try {
    config = parse(source);
  } catch (cause) {
    // Without the cause, which quotes the file.
    throw bad(`the kubeconfig is not valid YAML: ${yamlFault(cause)}`);
  }
  if (!isJsonObject(config)) throw bad('the kubeconfig is not a YAML mapping');
  return config;
};

export const contextsOf = (config: Fields): KubeconfigContext[] =>
  listOf(config, 'contexts').map((entry) => {
    const context = isJsonObject(entry['context']) ? entry['context'] : {};
    const name = text(entry, 'name') ?? '';
    return {
      name,
      cluster: text(context, 'cluster') ?? '',
      user: text(context, 'user') ?? '',
      namespace: text(context, 'namespace') ?? 'default',
      isCurrent: config['current-context'] === name,
    };
  });

/** What one context of a kubeconfig says. */
export const configFrom = (config: Fields, options: KubeconfigOptions = {}): ClientConfig => {
  const contextName = options.context ?? text(config, 'current-context');
  if (contextName === undefined) throw bad('the kubeconfig has no current-context; specify a context');
  const context = entryOf(config, 'contexts', contextName, 'context');
  const cluster = entryOf(config, 'clusters', text(context, 'cluster') ?? '', 'cluster');
  const userName = text(context, 'user');
  const user = userName === undefined ? {} : entryOf(config, 'users', userName, 'user');
  const server = text(cluster, 'server');
  if (server === undefined) throw bad(`the cluster of context ${JSON.stringify(contextName)} has no server`);
  const dataOrFile = (fields: Fields, name: string): DataOrFile | undefined =>
    toDataOrFile(decoded(fields, `${name}-data`), pathOf(text(fields, name), options.folder));
  const authority = dataOrFile(cluster, 'certificate-authority');
  const tlsServerName = text(cluster, 'tls-server-name');
  const proxyUrl = text(cluster, 'proxy-url');
  return {
    servers: [server],
    ...(authority && { authority }),
    ...(cluster['insecure-skip-tls-verify'] === true && { insecureSkipTlsVerify: true }),
    ...(tlsServerName && { tlsServerName }),
    ...(proxyUrl && { proxyUrl }),
    auth: authOf(user, dataOrFile, options.folder),
    namespace: text(context, 'namespace') ?? 'default',
  };
};

/** Reads the file once; certificates and tokens that it names as files are read again when they change. */
export const loadKubeconfig = async (
  path: string,
  options: Omit<KubeconfigOptions, 'folder'> = {},
): Promise<ClientConfig> => {
  let source: string;
  try {
    source = await readFile(path, 'utf8');
  } catch (cause) {
    throw bad(`cannot read the kubeconfig ${path}: ${messageOf(cause)}`, cause);
  }
  return configFrom(parseKubeconfig(source), { ...options, folder: dirname(resolve(path)) });
};

/** Certificates that the file itself holds are read again as those in files of their own are: they are renewed in place. */
const followed = async (config: ClientConfig, path: string): Promise<ClientConfig> => {
  const { mtimeMs: modifiedMs } = await stat(path);
  const follow = (name: 'certificate' | 'key'): { readonly [key: string]: DataOrFile } => {
    const value = config.auth[name]?.data;
    if (value === undefined) return {};
    const extract = (content: string): string | undefined =>
      configFrom(parseKubeconfig(content)).auth[name]?.data;
    return { [name]: { file: path, extract, known: { value, modifiedMs } } };
  };
  return { ...config, auth: { ...config.auth, ...follow('certificate'), ...follow('key') } };
};

/** For a process that outlives its certificate: what the file itself holds is read again when it changes, too. */
export const loadLastingKubeconfig = async (path: string): Promise<ClientConfig> =>
  followed(await loadKubeconfig(path), path);

/**
 * Of a cluster's own data directory. Such files hold certificates and run nothing; one that would is not ours, and
 * no one was asked about its program.
 */
export const loadOwnKubeconfig = async (path: string): Promise<ClientConfig> => {
  const config = await loadKubeconfig(path);
  if (config.auth.exec)
    throw bad(
      `${path} runs ${config.auth.exec.command}, which a kubeconfig of a cluster directory must not; restore the file`,
    );
  return followed(config, path);
};

const pathOf = (path: string | undefined, folder: string | undefined): string | undefined =>
  path === undefined || folder === undefined || isAbsolute(path) ? path : resolve(folder, path);

const toDataOrFile = (data: string | undefined, file: string | undefined): DataOrFile | undefined =>
  data !== undefined ? { data } : file !== undefined ? { file } : undefined;

const authOf = (
  user: Fields,
  dataOrFile: (fields: Fields, name: string) => DataOrFile | undefined,
  folder: string | undefined,
): AuthConfig => {
  const certificate = dataOrFile(user, 'client-certificate');
  const key = dataOrFile(user, 'client-key');
  const token = text(user, 'token');
  const tokenFile = pathOf(text(user, 'tokenFile'), folder);
  const username = text(user, 'username');
  const impersonation = impersonationOf(user);
  const exec = isJsonObject(user['exec']) ? execOf(user['exec'], folder) : undefined;
  if (isJsonObject(user['auth-provider']))
    throw bad('auth-provider is no longer supported by Kubernetes; use an exec plugin');
  return {
    ...(certificate && { certificate }),
    ...(key && { key }),
    ...(token && { token }),
    ...(tokenFile && { tokenFile }),
    ...(username && { basic: { username, password: text(user, 'password') ?? '' } }),
    ...(exec && { exec }),
    ...(impersonation && { impersonation }),
  };
};

const stringsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

const impersonationOf = (user: Fields): Impersonation | undefined => {
  const name = text(user, 'as');
  if (name === undefined) return undefined;
  const extra = user['as-user-extra'];
  const uid = text(user, 'as-uid');
  return {
    user: name,
    ...(uid && { uid }),
    groups: stringsOf(user['as-groups']),
    ...(isJsonObject(extra) && {
      extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, stringsOf(values)])),
    }),
  };
};

/** A command with a slash is relative to the kubeconfig, as kubectl has it; a bare one is looked up. */
const execOf = (exec: Fields, folder: string | undefined): ExecConfig => {
  const command = text(exec, 'command');
  if (command === undefined) throw bad('an exec plugin in the kubeconfig has no command');
  const env = listOf(exec, 'env').map((entry) => [text(entry, 'name') ?? '', text(entry, 'value') ?? '']);
  const installHint = text(exec, 'installHint');
  const interactiveMode = text(exec, 'interactiveMode');
  return {
    apiVersion: text(exec, 'apiVersion') ?? '',
    command: /[/\\]/.test(command) ? pathOf(command, folder)! : command,
    args: stringsOf(exec['args']),
    env: Object.fromEntries(env) as Record<string, string>,
    provideClusterInfo: exec['provideClusterInfo'] === true,
    ...(installHint && { installHint }),
    ...(interactiveMode && { interactiveMode }),
  };
};
