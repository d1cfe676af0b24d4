import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { RequestHeaders } from '../server/headers.ts';
import {
  authenticationFailed,
  isAuthenticationFailed,
  NO_NOTES,
  type Authenticator,
  type CredentialNotes,
} from './authenticator.ts';
import type { UserInfo } from '../server/user.ts';

/** Undefined: not a token of this kind. Throws `AuthenticationFailed` for one that is bad. */
export type TokenAuthenticator = (
  token: string,
  notes?: CredentialNotes,
) => UserInfo | undefined | Promise<UserInfo | undefined>;

/** Browsers cannot set headers on a WebSocket, so a token may travel as a subprotocol. */
const WEBSOCKET_PREFIX = 'base64url.bearer.authorization.k8s.io.';
const WEBSOCKET_HEADER = 'sec-websocket-protocol';

const headerToken = (headers: RequestHeaders): string | undefined => {
  const parts = (headers.get('authorization') ?? '').trim().split(' ');
  return parts.length >= 2 && parts[0]!.toLowerCase() === 'bearer' && parts[1] !== '' ? parts[1] : undefined;
};

const websocketToken = (headers: RequestHeaders): string | undefined => {
  const offered = headers.all(WEBSOCKET_HEADER).flatMap((value) => value.split(',').map((one) => one.trim()));
  const carriers = offered.filter((one) => one.startsWith(WEBSOCKET_PREFIX));
  if (carriers.length === 0) return undefined;
  if (carriers.length > 1)
    throw authenticationFailed('multiple base64.bearer.authorization tokens specified');
  const others = offered.filter((one) => !one.startsWith(WEBSOCKET_PREFIX));
  if (others.length === 0) throw authenticationFailed('missing additional subprotocol');
  headers.delete(WEBSOCKET_HEADER);
  headers.add(WEBSOCKET_HEADER, others.join(','));
  return Buffer.from(carriers[0]!.slice(WEBSOCKET_PREFIX.length), 'base64url').toString('utf8');
};

/** As upstream: a token that was good stays so for this long without being verified again. */
const CACHE_TTL_MS = 10_000;
const CACHE_TOKENS_MAX = 4096;

type Note = (notes: CredentialNotes) => void;

interface Known {
  readonly user: UserInfo;
  readonly untilMs: number;
  /** Repeated with every use. */
  readonly notes: readonly Note[];
}

/** Holds digests, not tokens. */
const cached = (authenticate: TokenAuthenticator, clock: Clock): TokenAuthenticator => {
  const known = new Map<string, Known>();
  return async (token, notes = NO_NOTES) => {
    const key = createHash('sha256').update(token).digest('base64');
    const nowMs = clock.monotonicMs();
    const hit = known.get(key);
    if (hit && nowMs < hit.untilMs) {
      for (const note of hit.notes) note(notes);
      return hit.user;
    }
    known.delete(key);
    const taken: Note[] = [];
    const take = (note: Note): void => {
      taken.push(note);
      note(notes);
    };
    const user = await authenticate(token, {
      annotate: (name, value) => take((to) => to.annotate(name, value)),
      warn: (text) => take((to) => to.warn(text)),
    });
    if (user) {
      const oldest = known.keys().next();
      if (known.size >= CACHE_TOKENS_MAX && !oldest.done) known.delete(oldest.value);
      known.set(key, { user, untilMs: nowMs + CACHE_TTL_MS, notes: taken });
    }
    return user;
  };
};

/** Tries each kind in turn: one that fails never stops the others, and its reason counts only if none succeeds. */
export const unionTokenAuthenticator =
  (kinds: readonly TokenAuthenticator[]): TokenAuthenticator =>
  async (token, notes) => {
    const failures: string[] = [];
    for (const kind of kinds) {
      try {
        const user = await kind(token, notes);
        if (user) return user;
      } catch (error) {
        if (!isAuthenticationFailed(error)) throw error;
        failures.push(error.message);
      }
    }
    if (failures.length > 0) throw authenticationFailed(failures.join('; '));
    return undefined;
  };

/** Bearer tokens. One that no kind knows is a failure. */
export const bearerTokenAuthenticator = (
  kinds: readonly TokenAuthenticator[],
  clock: Clock,
): Authenticator => {
  const authenticate = cached(unionTokenAuthenticator(kinds), clock);
  return {
    name: 'bearer-token',
    async authenticate({ headers, notes }) {
      const token = headerToken(headers) ?? websocketToken(headers);
      if (token === undefined) return undefined;
      const user = await authenticate(token, notes);
      if (!user) throw authenticationFailed('invalid bearer token');
      return user;
    },
  };
};
