import type { Registry } from '../../base/metrics/index.ts';
import type { Log } from '../../base/log.ts';
import { unauthorized } from '../../api/meta/index.ts';
import type { RequestContext } from '../server/context.ts';
import type { Stage, StageResult } from '../server/pipeline.ts';
import {
  isAuthenticationFailed,
  withAuthenticatedGroup,
  type Authenticator,
  type Credentials,
} from './authenticator.ts';
import { frontProxyHeaderCleaner, type FrontProxyOptions } from './front-proxy.ts';
import { ANONYMOUS, type UserInfo } from '../server/user.ts';

export interface AuthenticationOptions {
  readonly authenticator: Authenticator;
  /** Off unless given, and never asked for credentials that failed. */
  readonly anonymous?: Authenticator;
  readonly frontProxy?: Partial<FrontProxyOptions>;
  readonly metrics: Registry;
  readonly log: Log;
}

/** Upstream names no one here: names of callers are without bound. */
const USERNAME_LABEL = 'other';

export const authenticationStage = (options: AuthenticationOptions): Stage => {
  const { authenticator, anonymous, frontProxy, metrics, log } = options;
  const attempts = metrics.counterFamily({
    name: 'authentication_attempts',
    help: 'Requests by the outcome of their authentication.',
    labels: ['result'],
  });
  const users = metrics.counterFamily({
    name: 'authenticated_user_requests',
    help: 'Requests whose caller is known.',
    labels: ['username'],
  });

  const clean = frontProxyHeaderCleaner(frontProxy);

  const counted = (user: UserInfo | undefined): UserInfo | undefined => {
    attempts.labels(user ? 'success' : 'failure').inc();
    return user;
  };
  const failed = (context: RequestContext, error: unknown): undefined => {
    if (!isAuthenticationFailed(error)) throw error;
    attempts.labels('error').inc();
    log.write('warn', 'unable to authenticate a request', {
      auditId: context.auditId,
      error: error.message,
    });
  };
  const identifyLater = async (
    context: RequestContext,
    credentials: Credentials,
    asked: Promise<UserInfo | undefined>,
  ): Promise<UserInfo | undefined> => {
    try {
      return counted((await asked) ?? (await anonymous?.authenticate(credentials)));
    } catch (error) {
      return failed(context, error);
    }
  };
  /** A certificate is known immediately: only tokens have to be looked up. */
  const identify = (context: RequestContext): UserInfo | undefined | Promise<UserInfo | undefined> => {
    const { headers, peer } = context.request;
    const notes = {
      annotate: (key: string, value: string) => context.annotate(key, value),
      warn: (text: string) => context.warnings.add(text),
    };
    const credentials = { headers, peer, path: context.info.path, notes };
    try {
      const known = authenticator.authenticate(credentials) ?? anonymous?.authenticate(credentials);
      return known instanceof Promise ? identifyLater(context, credentials, known) : counted(known);
    } catch (error) {
      return failed(context, error);
    }
  };
  const pass = (context: RequestContext, user: UserInfo | undefined): StageResult => {
    const { request, response } = context;
    // HTTP/2 is costly to serve, so who is not known keeps no connection (CVE-2023-44487).
    if ((!user || user.name === ANONYMOUS) && request.protocol === 'HTTP/2.0')
      response.setHeader('connection', 'close');
    if (!user) throw unauthorized();
    if (user.name !== ANONYMOUS) request.peer.recognized();
    context.user = withAuthenticatedGroup(user);
    users.labels(USERNAME_LABEL).inc();
    request.headers.delete('authorization');
    clean(request.headers);
    return 'next';
  };

  return {
    name: 'authentication',
    run(context) {
      const user = identify(context);
      return user instanceof Promise ? user.then((known) => pass(context, known)) : pass(context, user);
    },
  };
};
