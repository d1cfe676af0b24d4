import { ReasonError } from '../../base/errors.ts';
import type { Peer } from '../server/request.ts';
import type { RequestHeaders } from '../server/headers.ts';
import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS, type UserInfo } from '../server/user.ts';

/** What an authenticator has to say about credentials besides whom they are of, whether they are good or not. */
export interface CredentialNotes {
  /** Of the audit event. */
  annotate(key: string, value: string): void;
  /** Told to the client. */
  warn(text: string): void;
}

export const NO_NOTES: CredentialNotes = { annotate: () => undefined, warn: () => undefined };

/** The part of a request that tells who makes it. */
export interface Credentials {
  readonly notes?: CredentialNotes;
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
  authenticate(credentials) {
    const failures: string[] = [];
    const failed = (name: string, error: unknown): undefined => {
      if (!isAuthenticationFailed(error)) throw error;
      failures.push(`${name}: ${error.message}`);
    };
    /** Answers immediately as long as those who are asked do. */
    const askFrom = (first: number): UserInfo | undefined | Promise<UserInfo | undefined> => {
      for (let index = first; index < authenticators.length; index += 1) {
        const authenticator = authenticators[index]!;
        try {
          const user = authenticator.authenticate(credentials);
          if (user instanceof Promise)
            return user
              .catch((error: unknown) => failed(authenticator.name, error))
              .then((later) => later ?? askFrom(index + 1));
          if (user) return user;
        } catch (error) {
          failed(authenticator.name, error);
        }
      }
      if (failures.length > 0) throw authenticationFailed(failures.join('; '));
      return undefined;
    };
    return askFrom(0);
  },
});

/** Everybody who is somebody is in `system:authenticated`. */
export const withAuthenticatedGroup = (user: UserInfo): UserInfo =>
  user.name === ANONYMOUS ||
  user.groups.includes(ALL_AUTHENTICATED) ||
  user.groups.includes(ALL_UNAUTHENTICATED)
    ? user
    : remembered(user);

/** An identity of a connection comes with every request of it. */
const withGroup = new WeakMap<UserInfo, UserInfo>();
const remembered = (user: UserInfo): UserInfo => {
  let known = withGroup.get(user);
  if (!known) withGroup.set(user, (known = { ...user, groups: [...user.groups, ALL_AUTHENTICATED] }));
  return known;
};
