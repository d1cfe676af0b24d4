import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import type { ClientConfig, TokenSource } from '../../core/client/index.ts';
import {
  defaultCacheFolder,
  getToken,
  heldToken,
  LISTEN_ADDRESSES,
  openTokenCache,
  readPluginArguments,
  type ProviderConfig,
} from '../../core/client/sign-in/index.ts';
import { AUTHENTICATION_CONFIG_FILE } from '../../core/cluster/manifests/authentication-config.ts';
import {
  ContractError,
  saidOf,
  say,
  type ClusterEntry,
  type SignInState,
} from '../../core/contract/index.ts';

/** Where people of a cluster sign in. */
interface Target {
  readonly provider: ProviderConfig;
  readonly listenAddresses: readonly string[];
  readonly cacheFolder: string;
}

interface Attempt {
  readonly life: AbortController;
  url: string | null;
}

export interface SignInsOptions {
  readonly clock: Clock;
  /** Where tokens are cached, as `pilothouse login` does; absent: of the user that runs this. */
  readonly home?: string | undefined;
  /** Shows a page in the person's browser; absent: the console itself is in one, and offers a link. */
  readonly openExternal?: ((url: string) => Promise<void>) | undefined;
}

/** What a kubeconfig's `pilothouse login get-token` is told; undefined for other credentials. */
const pluginTarget = async ({ auth }: ClientConfig): Promise<Target | undefined> => {
  const told = auth.exec && readPluginArguments(auth.exec.args);
  if (!told) return undefined;
  const { issuerUrl, clientId, clientSecret, extraScopes, authorityFile, ...rest } = told;
  const authorityPem = authorityFile === '' ? '' : await readFile(authorityFile, 'utf8');
  return { provider: { issuerUrl, clientId, clientSecret, extraScopes, authorityPem }, ...rest };
};

/** The first issuer that the API servers of a cluster of our own accept. */
const ownTarget = async (directory: string, home: string | undefined): Promise<Target | undefined> => {
  const text = await readFile(join(directory, AUTHENTICATION_CONFIG_FILE), 'utf8').catch(() => '');
  if (!text.includes('jwt:')) return undefined;
  try {
    const { parseAuthenticationConfiguration } =
      await import('../../core/apiserver/config/files/authentication-configuration.ts');
    const [first] = parseAuthenticationConfiguration(text).jwt;
    if (!first) return undefined;
    const { url, audiences, certificateAuthority } = first.issuer;
    return {
      provider: {
        issuerUrl: url,
        clientId: audiences[0] ?? '',
        clientSecret: '',
        extraScopes: ['email', 'offline_access'],
        authorityPem: certificateAuthority,
      },
      listenAddresses: LISTEN_ADDRESSES,
      cacheFolder: defaultCacheFolder(home),
    };
  } catch {
    // The API servers keep the last one that they could read; the page of flags says what is wrong with this one.
    return undefined;
  }
};

const NAME_CLAIMS = ['email', 'preferred_username', 'name', 'sub'];
const nameIn = (claims: Readonly<Record<string, unknown>>): string =>
  NAME_CLAIMS.map((claim) => claims[claim]).find((value): value is string => typeof value === 'string') ?? '';

/** Signs the person at this console in at the provider of a cluster, as `pilothouse login` does. */
export class SignIns implements Disposable {
  readonly #options: SignInsOptions;
  readonly #attempts = new Map<string, Attempt>();
  readonly #problems = new Map<string, unknown>();
  /** Why a cluster gets no token although somebody has signed in. */
  readonly #renewals = new Map<string, unknown>();
  readonly #life = new AbortController();
  #changes = 0;

  constructor(options: SignInsOptions) {
    this.#options = options;
  }

  /** Differs after each sign-in and sign-out: connections made before are of another user. */
  get version(): number {
    return this.#changes;
  }

  /** Undefined where the cluster has its credentials elsewhere. */
  async #targetOf(entry: ClusterEntry, config: ClientConfig): Promise<Target | undefined> {
    return entry.local ? ownTarget(entry.local.directory, this.#options.home) : pluginTarget(config);
  }

  /**
   * The configuration with which the person is known by the provider's token: always where a kubeconfig says so, in a
   * cluster of our own after a sign-in. It never falls back to other credentials while somebody is signed in.
   */
  async applied(entry: ClusterEntry, config: ClientConfig): Promise<ClientConfig> {
    const target = await this.#targetOf(entry, config);
    if (!target) return config;
    const { clock } = this.#options;
    const { cacheFolder, provider } = target;
    const isSignedIn = (await openTokenCache(cacheFolder, provider, clock).read()) !== undefined;
    if (entry.local && !isSignedIn) return config;
    const tokenSource: TokenSource = {
      // A server that does not believe a good token says so to the person: another one would be the same.
      rejected: () => undefined,
      token: async (signal) => {
        try {
          const held = await heldToken({ provider, cacheFolder, clock, signal });
          if (!held)
            throw new ContractError(
              'Forbidden',
              say('failure.signInRequired', { cluster: entry.name, issuer: provider.issuerUrl }),
            );
          this.#renewals.delete(entry.id);
          return held.text;
        } catch (error) {
          if (!signal.aborted) this.#renewals.set(entry.id, error);
          throw error;
        }
      },
    };
    const { impersonation } = config.auth;
    return { ...config, auth: { tokenSource, ...(impersonation && { impersonation }) } };
  }

  async state(entry: ClusterEntry, config: ClientConfig): Promise<SignInState | null> {
    const target = await this.#targetOf(entry, config);
    if (!target) return null;
    const { provider, cacheFolder } = target;
    const kept = await openTokenCache(cacheFolder, provider, this.#options.clock).read();
    const unrenewed = kept && this.#renewals.get(entry.id);
    const problem = this.#problems.get(entry.id) ?? unrenewed;
    return {
      issuer: provider.issuerUrl,
      clientId: provider.clientId,
      name: kept ? nameIn(kept.idToken.claims) : null,
      expiresAtMs: kept?.idToken.expiresAtMs ?? null,
      isRenewed: kept !== undefined && kept.refreshToken !== '' && unrenewed === undefined,
      url: this.#attempts.get(entry.id)?.url ?? null,
      problem: problem === undefined ? null : saidOf(problem),
    };
  }

  async begin(entry: ClusterEntry, config: ClientConfig): Promise<SignInState> {
    const target = await this.#required(entry, config);
    this.#attempts.get(entry.id)?.life.abort();
    this.#problems.delete(entry.id);
    const attempt: Attempt = { life: new AbortController(), url: null };
    this.#attempts.set(entry.id, attempt);
    await new Promise<void>((resolve) => {
      const { clock, openExternal } = this.#options;
      getToken({
        ...target,
        clock,
        isNewSignIn: true,
        signal: AbortSignal.any([attempt.life.signal, this.#life.signal]),
        openBrowser: (url) => {
          attempt.url = url;
          resolve();
          openExternal?.(url).catch(() => undefined);
        },
      })
        .then(
          () => {
            this.#renewals.delete(entry.id);
            this.#changes += 1;
          },
          (error: unknown) => {
            if (!attempt.life.signal.aborted) this.#problems.set(entry.id, error);
          },
        )
        .finally(() => {
          if (this.#attempts.get(entry.id) === attempt) this.#attempts.delete(entry.id);
          resolve();
        });
    });
    return (await this.state(entry, config))!;
  }

  /** Cancels a sign-in that waits for the person; otherwise signs the person out. */
  async end(entry: ClusterEntry, config: ClientConfig): Promise<SignInState> {
    const { provider, cacheFolder } = await this.#required(entry, config);
    this.#problems.delete(entry.id);
    const attempt = this.#attempts.get(entry.id);
    if (attempt) {
      attempt.life.abort();
      this.#attempts.delete(entry.id);
      return (await this.state(entry, config))!;
    }
    this.#renewals.delete(entry.id);
    await openTokenCache(cacheFolder, provider, this.#options.clock).clear();
    this.#changes += 1;
    return (await this.state(entry, config))!;
  }

  dispose(): void {
    this.#life.abort();
  }

  async #required(entry: ClusterEntry, config: ClientConfig): Promise<Target> {
    const target = await this.#targetOf(entry, config);
    if (target) return target;
    throw new ContractError('NotFound', say('failure.noSignIn', { cluster: entry.name }));
  }
}
