import { ReasonError } from '../../base/errors.ts';
import type { Peer } from '../server/request.ts';
import type { RequestHeaders } from '../server/headers.ts';
import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS, type UserInfo } from './user.ts';

/** The part of a request that tells who makes it. */
export interface Credentials {
  readonly headers: RequestHeaders;
  readonly peer: Peer;
  readonly path: string;
}

/**
 * One way to tell who makes a request. Undefined: it brings no credentials of this kind. Throws
 * `AuthenticationFailed` for credentials that are of this kind and bad. The reason is logged, never answered.
 */
export interface Authenticator {
  readonly name: string;
  authenticate(credentials: Credentials): UserInfo | undefined | Promise<UserInfo | undefined>;
}

export const authenticationFailed = (message: string, cause?: unknown): ReasonError<'AuthenticationFailed'> =>
  new ReasonError('AuthenticationFailed', message, { cause });

export const isAuthenticationFailed = (error: unknown): error is ReasonError<'AuthenticationFailed'> =>
  error instanceof ReasonError && error.reason === 'AuthenticationFailed';

/** The first that knows the caller wins; what the others had against it matters only if none does. */
export const unionAuthenticator = (authenticators: readonly Authenticator[]): Authenticator => ({
  name: 'union',
  async authenticate(credentials) {
    const failures: string[] = [];
    for (const authenticator of authenticators) {
      try {
        const user = await authenticator.authenticate(credentials);
        if (user) return user;
      } catch (error) {
        if (!isAuthenticationFailed(error)) throw error;
        failures.push(`${authenticator.name}: ${error.message}`);
      }
    }
    if (failures.length > 0) throw authenticationFailed(failures.join('; '));
    return undefined;
  },
});

/** Everybody who is somebody is in `system:authenticated`. */
export const withAuthenticatedGroup = (user: UserInfo): UserInfo =>
  user.name === ANONYMOUS ||
  user.groups.includes(ALL_AUTHENTICATED) ||
  user.groups.includes(ALL_UNAUTHENTICATED)
    ? user
    : { ...user, groups: [...user.groups, ALL_AUTHENTICATED] };
