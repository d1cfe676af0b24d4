import type { Authenticator } from './authenticator.ts';
import { ALL_UNAUTHENTICATED, ANONYMOUS, userInfo } from '../server/user.ts';

export interface AnonymousOptions {
  /** Exact paths that may be asked for without credentials; absent: any. */
  readonly paths?: readonly string[];
}

/** What a load balancer needs to probe. */
export const HEALTH_PATHS = ['/livez', '/readyz', '/healthz'] as const;

/** Stands last; credentials that failed are refused before it is asked. */
export const anonymousAuthenticator = ({ paths }: AnonymousOptions = {}): Authenticator => {
  const user = userInfo(ANONYMOUS, [ALL_UNAUTHENTICATED]);
  return {
    name: 'anonymous',
    authenticate: ({ path }) => (paths === undefined || paths.includes(path) ? user : undefined),
  };
};
