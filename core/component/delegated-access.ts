import type { Clock } from '../base/clock.ts';
import type { V1SubjectAccessReview, V1TokenReview } from '../api/schema/index.ts';
import type { Client } from '../client/client.ts';

export interface Caller {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export interface AccessQuestion {
  readonly verb: string;
  readonly path: string;
  /** For servers that speak of objects, as the kubelet of `nodes/log`; absent: the path is asked for. */
  readonly resource?:
    | {
        readonly group: string;
        readonly resource: string;
        readonly subresource: string;
        readonly name: string;
        readonly namespace?: string;
      }
    | undefined;
}

/** Whom the API server vouches for, and what it lets them do here. */
export interface DelegatedAccess {
  /** Undefined: the token is not valid. */
  reviewToken(token: string): Promise<Caller | undefined>;
  mayAccess(caller: Caller, question: AccessQuestion): Promise<boolean>;
}

/** How long answers are used, as upstream's flags say. */
export interface AnswerLives {
  /** --authentication-token-webhook-cache-ttl. */
  readonly tokenMs: number;
  /** --authorization-webhook-cache-authorized-ttl. */
  readonly allowedMs: number;
  /** --authorization-webhook-cache-unauthorized-ttl. */
  readonly deniedMs: number;
}

const DEFAULT_LIVES: AnswerLives = { tokenMs: 10_000, allowedMs: 10_000, deniedMs: 10_000 };
const ANSWERS_MAX = 1024;

class RecentAnswers<T> {
  readonly #answers = new Map<string, { readonly value: T; readonly untilMs: number }>();
  readonly #clock: Clock;
  readonly #lifeMsOf: (value: T) => number;

  constructor(clock: Clock, lifeMsOf: (value: T) => number) {
    this.#clock = clock;
    this.#lifeMsOf = lifeMsOf;
  }

  async get(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(key);
    if (known && known.untilMs > this.#clock.monotonicMs()) return known.value;
    const value = await ask();
    this.#answers.delete(key);
    if (this.#answers.size >= ANSWERS_MAX) this.#answers.delete(this.#answers.keys().next().value!);
    this.#answers.set(key, { value, untilMs: this.#clock.monotonicMs() + this.#lifeMsOf(value) });
    return value;
  }
}

export interface Reviewers {
  /** Asked about tokens; undefined: no token is valid. */
  readonly authentication: Client | undefined;
  /** Asked about access; undefined: nothing is allowed. */
  readonly authorization: Client | undefined;
}

export const delegatedAccess = (
  { authentication, authorization }: Reviewers,
  clock: Clock,
  lives: AnswerLives = DEFAULT_LIVES,
): DelegatedAccess => {
  const tokens = new RecentAnswers<Caller | undefined>(clock, () => lives.tokenMs);
  const verdicts = new RecentAnswers<boolean>(clock, (isAllowed) =>
    isAllowed ? lives.allowedMs : lives.deniedMs,
  );
  return {
    reviewToken: (token) =>
      tokens.get(token, async () => {
        if (authentication === undefined) return undefined;
        const { status } = await authentication.json<V1TokenReview>({
          method: 'POST',
          path: '/apis/authentication.k8s.io/v1/tokenreviews',
          body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
        });
        if (status?.authenticated !== true) return undefined;
        const { username = '', uid, groups = [], extra } = status.user ?? {};
        return { name: username, uid, groups, extra };
      }),
    mayAccess: (caller, question) =>
      verdicts.get(JSON.stringify([caller, question]), async () => {
        if (authorization === undefined) return false;
        const { verb, path, resource } = question;
        const { status } = await authorization.json<V1SubjectAccessReview>({
          method: 'POST',
          path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          body: {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SubjectAccessReview',
            spec: {
              user: caller.name,
              uid: caller.uid,
              groups: caller.groups,
              extra: caller.extra,
              ...(resource
                ? { resourceAttributes: { ...resource, verb, version: '*' } }
                : { nonResourceAttributes: { verb, path } }),
            },
          },
        });
        return status?.allowed === true;
      }),
  };
};
