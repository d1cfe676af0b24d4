import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Registry as Metrics } from '../../base/metrics/index.ts';
import { watchFiles } from '../../base/node/pem-files.ts';
import { wait } from '../../base/wait.ts';
import type { ObjectReader } from '../storage/object-reader.ts';
import { anonymousAuthenticator } from '../authn/anonymous.ts';
import { authenticationStage } from '../authn/authentication-stage.ts';
import {
  bearerTokenAuthenticator,
  unionTokenAuthenticator,
  type TokenAuthenticator,
} from '../authn/bearer-token.ts';
import { BOOTSTRAP_NAMESPACE, bootstrapTokenAuthenticator } from '../authn/bootstrap-tokens.ts';
import { ClientAuthorities } from '../authn/client-authorities.ts';
import {
  createServiceAccountTokens,
  createTokenSigner,
  type TokenSigner,
} from '../authn/service-account-tokens.ts';
import { frontProxyAuthenticator } from '../authn/front-proxy.ts';
import { tokenCounters } from '../authn/token-counters.ts';
import { trackLegacyTokens } from '../authn/legacy-token-tracking.ts';
import { unionAuthenticator, type Authenticator } from '../authn/authenticator.ts';
import { webhookTokens } from '../authn/webhook-token.ts';
import { x509Authenticator } from '../authn/x509.ts';
import { createOidcAuthenticator, type OidcAuthenticator } from '../authn/oidc/oidc-authenticator.ts';
import type { ApiServerConfig } from '../config/config.ts';
import type { TokenReviewer } from '../registry/reviews/identity-reviews.ts';
import type { Stage } from '../server/pipeline.ts';
import { loadAuthenticationSettings, type AuthenticationSettings } from './authentication-settings.ts';
import type { LoadedCertificates, TokenKeys } from './certificates.ts';
import { createOwnWebhooks } from './own-webhooks.ts';
import { tokenObjects } from './token-objects.ts';

/** As upstream: a new configuration serves when its issuers answer, or the old one stays. */
const ISSUERS_FOUND_MS = 60_000;
/** As upstream: how long the issuers of a replaced configuration stay open. */
const OLD_ISSUERS_MS = 60_000;
const WEBHOOK_TIMEOUT_MS = 30_000;

export interface Authentication extends Disposable {
  readonly stage: Stage;
  readonly reviewToken: TokenReviewer;
  readonly sign: TokenSigner;
  /** After files were replaced. */
  setCertificates(loaded: LoadedCertificates): void;
}

export interface AuthenticationParts {
  readonly config: ApiServerConfig;
  readonly certificates: LoadedCertificates;
  readonly keys: TokenKeys;
  readonly settings: AuthenticationSettings;
  /** Asked when a token comes, after the registry is there. */
  readonly reader: () => ObjectReader;
  /** Records when the token of a secret was used. */
  readonly labelLastUsed: Parameters<typeof trackLegacyTokens>[0]['label'];
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The authenticators that a configuration file decides; replaced as one when it changes. */
interface Configured {
  readonly authenticator: Authenticator;
  readonly anonymous: Authenticator | undefined;
  /** For tokens that say nothing about audiences: they are for this API. */
  readonly otherTokens: TokenAuthenticator;
  readonly issuers: readonly OidcAuthenticator[];
}

/** Closes replaced configurations a minute later: requests in progress may still ask their issuer for keys. */
const createRetirement = (
  clock: Clock,
  close: (configured: Configured) => void,
): Disposable & { add(configured: Configured): void } => {
  const closing = new Map<Configured, Disposable>();
  return {
    add(configured) {
      const timer = clock.after(OLD_ISSUERS_MS, () => {
        closing.delete(configured);
        close(configured);
      });
      closing.set(configured, timer);
    },
    dispose() {
      for (const [configured, timer] of closing) {
        timer.dispose();
        close(configured);
      }
    },
  };
};

export const createAuthentication = (parts: AuthenticationParts): Authentication => {
  const { config, certificates, keys, clock, metrics, log } = parts;
  const { issuers, audiences, tokenSecondsMax, extendsPodTokens } = config.serviceAccounts;
  const ownAudiences = audiences.length > 0 ? audiences : [issuers[0]!];
  const clients = new ClientAuthorities(certificates.clientCaPem, clock);
  const proxies = new ClientAuthorities(certificates.frontProxyCaPem, clock);
  const tokens = createServiceAccountTokens({
    issuers,
    ...(audiences.length > 0 && { audiences }),
    verificationKeys: keys.verification,
    getObject: tokenObjects(parts.reader),
    counters: tokenCounters(metrics),
    onLegacyToken: trackLegacyTokens({ metrics, clock, log, label: parts.labelLastUsed }),
    clock,
  });
  const { caFile: _caFile, ...headers } = config.frontProxy;
  const frontProxy = {
    authorities: proxies,
    ...headers,
    uidHeaders: headers.uidHeaders.length > 0 ? headers.uidHeaders : ['x-remote-uid'],
  };
  const bootstrapSecret = (name: string): ReturnType<ObjectReader['get']> =>
    parts.reader().get({ group: '', resource: 'secrets' }, BOOTSTRAP_NAMESPACE, name);

  const owned = new DisposableStore();
  const { tokenWebhook } = parts.settings;
  const webhook =
    tokenWebhook &&
    webhookTokens({
      version: config.tokenWebhook.version,
      cacheTtlMs: config.tokenWebhook.cacheTtlMs,
      audiences: ownAudiences,
      post: owned.add(createOwnWebhooks(clock)).poster(tokenWebhook, WEBHOOK_TIMEOUT_MS),
      clock,
    });

  const configure = (settings: AuthenticationSettings): Configured => {
    const own = settings.issuers.map((compiled) =>
      createOidcAuthenticator({ compiled, algorithms: settings.algorithms, clock, log }),
    );
    const others: TokenAuthenticator[] = [
      ...(settings.tokenFile ? [settings.tokenFile] : []),
      ...(config.bootstrapTokens ? [bootstrapTokenAuthenticator(bootstrapSecret, clock)] : []),
      ...own.map(({ authenticate }) => authenticate),
    ];
    return {
      authenticator: unionAuthenticator([
        ...(config.frontProxy.caFile === '' ? [] : [frontProxyAuthenticator(frontProxy)]),
        x509Authenticator(clients),
        bearerTokenAuthenticator(
          [
            tokens.authenticate,
            ...others,
            ...(webhook ? [async (token: string) => (await webhook(token, undefined))?.user] : []),
          ],
          clock,
        ),
      ]),
      anonymous: settings.anonymous.enabled ? anonymousAuthenticator(settings.anonymous) : undefined,
      otherTokens: unionTokenAuthenticator(others),
      issuers: own,
    };
  };

  let current = configure(parts.settings);
  const close = ({ issuers: own }: Configured): void => own.forEach((issuer) => issuer.dispose());
  const life = new AbortController();
  owned.defer(() => life.abort());
  owned.defer(() => close(current));

  const retired = owned.add(createRetirement(clock, close));

  let reloads = 0;
  const reload = async (): Promise<void> => {
    const turn = (reloads += 1);
    const next = configure(await loadAuthenticationSettings(config));
    const found = Promise.all(next.issuers.map((issuer) => issuer.found()));
    await Promise.race([found, wait(clock, ISSUERS_FOUND_MS, life.signal)]);
    const problem = next.issuers.map((issuer) => issuer.problem).find((one) => one !== undefined);
    // The file changed again while an issuer of this version was waited for: only the newest may replace the old one.
    const isOutdated = turn !== reloads;
    if (life.signal.aborted || isOutdated || problem !== undefined) {
      close(next);
      if (problem !== undefined && !isOutdated) throw new Error(problem);
      return;
    }
    retired.add(current);
    current = next;
    log.write('info', 'authentication configuration was reloaded');
  };
  const kept = (error: unknown): void =>
    log.write('warn', 'changed authentication configuration cannot be used; the old one stays', {
      error: messageOf(error),
    });
  owned.add(
    watchFiles(
      [config.authenticationConfigFile, config.tokenFile],
      clock,
      () => void reload().catch(kept),
      kept,
    ),
  );

  return {
    stage: authenticationStage({
      authenticator: {
        name: 'configured',
        authenticate: (credentials) => current.authenticator.authenticate(credentials),
      },
      anonymous: {
        name: 'anonymous',
        authenticate: (credentials) => current.anonymous?.authenticate(credentials),
      },
      frontProxy,
      metrics,
      log,
    }),
    async reviewToken(token, wanted) {
      const known = await tokens.review(token, wanted);
      if (known) return known;
      const common = wanted ? ownAudiences.filter((one) => wanted.includes(one)) : ownAudiences;
      const user = common.length === 0 ? undefined : await current.otherTokens(token);
      return user ? { user, audiences: common } : webhook?.(token, wanted);
    },
    sign: createTokenSigner({
      issuer: issuers[0]!,
      privateKey: keys.signing,
      clock,
      extendsPodTokens,
      ...(tokenSecondsMax > 0 && { expirationSecondsMax: tokenSecondsMax }),
      ...(audiences.length > 0 && { audiences }),
    }),
    setCertificates(loaded) {
      clients.setBundle(loaded.clientCaPem);
      proxies.setBundle(loaded.frontProxyCaPem);
    },
    dispose: () => owned.dispose(),
  };
};
