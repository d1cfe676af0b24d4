import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../client/index.ts';

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
}

export interface RequestAttributes {
  readonly verb: string;
  /** Any of them allows the request: the finer one, or `proxy` for all. */
  readonly subresources: readonly string[];
  readonly nodeName: string;
  readonly path: string;
}

export interface KubeletAuth {
  /** For bearer tokens; undefined refuses. */
  reviewToken?(token: string): Promise<User | undefined>;
  isAllowed(user: User, attributes: RequestAttributes): Promise<boolean>;
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

const FINE: readonly (readonly [prefix: string, subresources: readonly string[]])[] = [
  ['/stats', ['stats']],
  ['/metrics', ['metrics']],
  ['/logs', ['log']],
  ['/pods', ['pods', 'proxy']],
  ['/runningpods', ['pods', 'proxy']],
  ['/healthz', ['healthz', 'proxy']],
  ['/configz', ['configz', 'proxy']],
];

/** What a request to a kubelet means to an authorizer: a subresource of its node. */
export const attributesOf = (method: string, path: string, nodeName: string): RequestAttributes => {
  const fine = FINE.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  return { verb: VERBS[method] ?? '', subresources: fine?.[1] ?? ['proxy'], nodeName, path };
};

/** Node gives one name as text and several as a list. */
const listOf = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/** The user of a client certificate that our authority has signed. */
export const certificateUser = (request: IncomingMessage): User | undefined => {
  const socket = request.socket as TLSSocket;
  if (!socket.authorized) return undefined;
  const subject = socket.getPeerCertificate().subject as
    { CN?: string | string[]; O?: string | string[] } | undefined;
  const [name] = listOf(subject?.CN);
  return name === undefined ? undefined : { name, groups: [...listOf(subject?.O), 'system:authenticated'] };
};

export const authenticate = async (
  request: IncomingMessage,
  auth: KubeletAuth,
): Promise<User | undefined> => {
  const byCertificate = certificateUser(request);
  if (byCertificate) return byCertificate;
  const token = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  return token === undefined ? undefined : auth.reviewToken?.(token);
};

/** Lets these users and groups do everything: for a kubelet that knows only its API server. */
export const allowList = (allowed: {
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
}): KubeletAuth => ({
  isAllowed: (user) =>
    Promise.resolve(
      (allowed.users ?? []).includes(user.name) ||
        user.groups.some((group) => (allowed.groups ?? []).includes(group)),
    ),
});

/** As upstream's webhook authorizer keeps its answers. */
const ALLOWED_TTL_MS = 300_000;
const REFUSED_TTL_MS = 30_000;
const TOKEN_TTL_MS = 120_000;
export const ANSWERS_MAX = 1_024;

class AnswerCache<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly untilMs: number }>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    return entry && entry.untilMs > this.#clock.monotonicMs() ? entry.value : undefined;
  }

  set(key: string, value: T, ttlMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, untilMs: this.#clock.monotonicMs() + ttlMs });
    if (this.#entries.size > ANSWERS_MAX) this.#entries.delete(this.#entries.keys().next().value!);
  }
}

/** Asks the API: TokenReview for tokens, SubjectAccessReview for what they may do. */
export const apiAuth = (client: Client, clock: Clock): KubeletAuth => {
  const users = new AnswerCache<User | false>(clock);
  const decisions = new AnswerCache<boolean>(clock);
  const review = async (user: User, attributes: RequestAttributes, subresource: string): Promise<boolean> => {
    const key = JSON.stringify([user, attributes.verb, attributes.nodeName, subresource]);
    const known = decisions.get(key);
    if (known !== undefined) return known;
    const answer = await client.json<{ status?: { allowed?: boolean } }>({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: user.name,
          groups: user.groups,
          ...(user.uid !== undefined && { uid: user.uid }),
          resourceAttributes: {
            verb: attributes.verb,
            version: 'v1',
            resource: 'nodes',
            subresource,
            name: attributes.nodeName,
          },
        },
      },
    });
    const isAllowed = answer.status?.allowed === true;
    decisions.set(key, isAllowed, isAllowed ? ALLOWED_TTL_MS : REFUSED_TTL_MS);
    return isAllowed;
  };
  return {
    async reviewToken(token) {
      const known = users.get(token);
      if (known !== undefined) return known || undefined;
      const answer = await client.json<{
        status?: { authenticated?: boolean; user?: { username?: string; groups?: string[]; uid?: string } };
      }>({
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
      });
      const { authenticated, user } = answer.status ?? {};
      const result =
        authenticated && user?.username
          ? { name: user.username, groups: user.groups ?? [], ...(user.uid && { uid: user.uid }) }
          : false;
      users.set(token, result, TOKEN_TTL_MS);
      return result || undefined;
    },
    async isAllowed(user, attributes) {
      for (const subresource of attributes.subresources)
        if (await review(user, attributes, subresource)) return true;
      return false;
    },
  };
};
