import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { messageOf, ReasonError } from '../../../core/base/errors.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import {
  defaultCacheFolder,
  getToken,
  LISTEN_ADDRESSES,
  withExecUser,
  type GetTokenOptions,
  type ProviderConfig,
} from '../../../core/client/sign-in/index.ts';
import {
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';

const USAGE = `  pilothouse login --oidc-issuer-url URL --oidc-client-id ID [--oidc-client-secret SECRET] [--oidc-extra-scope SCOPE]...
                   [--certificate-authority FILE] [--listen-address HOST:PORT]... [--skip-open-browser]
                   [--token-cache-dir DIR] [--kubeconfig FILE] [--context NAME] [--user NAME] [-o json]
  pilothouse login get-token --oidc-issuer-url URL --oidc-client-id ID ...

  Signs you in through the browser at an OpenID Connect provider (authorization code with PKCE), caches the tokens and
  adds a user to the kubeconfig whose credential plugin is \`pilothouse login get-token\`. The context (default: the
  current one) uses that user from then on. get-token prints an ExecCredential: from the cache, renewed with the refresh
  token, or after a new sign-in. Add the scope offline_access to stay signed in where the provider requires it.`;

const OPTIONS = {
  'oidc-issuer-url': { type: 'string' },
  'oidc-client-id': { type: 'string' },
  'oidc-client-secret': { type: 'string' },
  'oidc-extra-scope': { type: 'string', multiple: true },
  'certificate-authority': { type: 'string' },
  'listen-address': { type: 'string', multiple: true },
  'skip-open-browser': { type: 'boolean' },
  'token-cache-dir': { type: 'string' },
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  user: { type: 'string' },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const DEFAULT_USER = 'oidc';
const EXEC_API_VERSION = 'client.authentication.k8s.io/v1';

const providerOf = async (values: Values, cwd: string): Promise<ProviderConfig> => {
  const issuerUrl = values['oidc-issuer-url'];
  const clientId = values['oidc-client-id'];
  if (!issuerUrl || !clientId) throw usageError('login requires --oidc-issuer-url and --oidc-client-id');
  if (!issuerUrl.startsWith('https://')) throw usageError('--oidc-issuer-url must begin with https://');
  const file = values['certificate-authority'];
  return {
    issuerUrl,
    clientId,
    clientSecret: values['oidc-client-secret'] ?? '',
    extraScopes: values['oidc-extra-scope'] ?? [],
    authorityPem: file === undefined ? '' : await readFile(resolve(cwd, file), 'utf8'),
  };
};

/** How the person's desktop opens an address. Its failure is no failure: the address is printed, too. */
const browserCommand = (url: string): readonly [string, ...string[]] => {
  if (process.platform === 'darwin') return ['open', url];
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  return ['xdg-open', url];
};

const openBrowser = (url: string): void => {
  const [command, ...args] = browserCommand(url);
  const child = spawn(command, args, { stdio: 'ignore', detached: true });
  child.once('error', () => undefined);
  child.unref();
};

const tokenOptions = async (values: Values, context: CommandContext): Promise<GetTokenOptions> => {
  const folder = values['token-cache-dir'];
  const addresses = values['listen-address'] ?? [];
  return {
    provider: await providerOf(values, context.cwd),
    listenAddresses: addresses.length > 0 ? addresses : LISTEN_ADDRESSES,
    cacheFolder: folder === undefined ? defaultCacheFolder() : resolve(context.cwd, folder),
    openBrowser(url) {
      context.note(`Sign in at ${url}`);
      if (values['skip-open-browser'] !== true) openBrowser(url);
    },
    clock: systemClock,
    signal: context.signal,
  };
};

/** kubectl says which version of the answer it wants. */
const execApiVersion = (info: string | undefined): string => {
  try {
    const { apiVersion } = JSON.parse(info ?? '{}') as { readonly apiVersion?: unknown };
    return typeof apiVersion === 'string' ? apiVersion : EXEC_API_VERSION;
  } catch {
    return EXEC_API_VERSION;
  }
};

const printCredential = async (values: Values, context: CommandContext): Promise<void> => {
  const { text, expiresAtMs } = await getToken(await tokenOptions(values, context));
  context.print(
    JSON.stringify({
      kind: 'ExecCredential',
      apiVersion: execApiVersion(context.env['KUBERNETES_EXEC_INFO']),
      spec: { interactive: false },
      status: {
        expirationTimestamp: new Date(expiresAtMs).toISOString().replace(/\.\d+/, ''),
        token: text,
      },
    }),
  );
};

/** The flags of this sign-in again, for the plugin; files by their full path. */
const pluginArgs = (values: Values, cwd: string): readonly string[] => {
  const paths = new Set(['certificate-authority', 'token-cache-dir']);
  const own = new Set(['kubeconfig', 'context', 'user', 'data', 'output']);
  return Object.entries(values).flatMap(([name, value]) => {
    if (own.has(name)) return [];
    if (value === true) return [`--${name}`];
    const all = (Array.isArray(value) ? value : [value]) as readonly string[];
    return all.map((one) => `--${name}=${paths.has(name) ? resolve(cwd, one) : one}`);
  });
};

const kubeconfigPath = (values: Values, { env, cwd }: CommandContext): string => {
  const named = values.kubeconfig ?? (env['KUBECONFIG'] ?? '').split(delimiter).find((one) => one !== '');
  return named === undefined ? join(homedir(), '.kube', 'config') : resolve(cwd, named);
};

const writeUser = async (values: Values, context: CommandContext) => {
  const path = kubeconfigPath(values, context);
  const before = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const user = values.user ?? DEFAULT_USER;
  const changed = withExecUser(
    before,
    {
      name: user,
      command: process.execPath,
      args: [process.argv[1] ?? '', 'login', 'get-token', ...pluginArgs(values, context.cwd)],
      env: process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' },
    },
    values.context,
  );
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const half = `${path}.${randomUUID()}`;
  await writeFile(half, changed.text, { mode: FILE_MODE });
  await rename(half, path);
  return { path, user, context: changed.context };
};

const nameIn = (claims: Readonly<Record<string, unknown>>): string => {
  const found = ['email', 'preferred_username', 'name', 'sub'].map((claim) => claims[claim]);
  return found.find((value): value is string => typeof value === 'string') ?? '';
};

export const login: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    if (words.length > 1 || (words.length === 1 && words[0] !== 'get-token'))
      throw usageError(`login takes get-token or flags, not "${words.join(' ')}"`);
    const { values, json } = parseOptions(OPTIONS, rest, context);
    if (words[0] === 'get-token') {
      await printCredential(values, context);
      return EXIT_OK;
    }
    const { claims, expiresAtMs } = await getToken(await tokenOptions(values, context));
    const written = await writeUser(values, context).catch((cause: unknown) => {
      throw new ReasonError('BadKubeconfig', `signed in, but ${messageOf(cause)}`, { cause });
    });
    const name = nameIn(claims);
    if (json) context.print(JSON.stringify({ name, ...written, expiresAtMs }));
    else {
      context.print(`signed in as ${name}`);
      context.print(
        written.context === undefined
          ? `user "${written.user}" added to ${written.path}; no context uses it yet`
          : `context "${written.context}" in ${written.path} uses "${written.user}"`,
      );
    }
    return EXIT_OK;
  },
};
