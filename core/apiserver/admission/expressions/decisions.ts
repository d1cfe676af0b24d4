import { assert } from '../../../base/assert.ts';
import { messageOf } from '../../../base/errors.ts';
import { parseFieldSelector } from '../../../api/selector/index.ts';
import type {
  AuthorizationDecision,
  AuthorizationRequest,
  Authorizer as CelSide,
} from '../../../cel/index.ts';
import { serviceAccountGroups, serviceAccountUsername, userInfo, type UserInfo } from '../../server/user.ts';
import {
  pathAttributes,
  resourceAttributes,
  type Attributes,
  type Authorizer,
} from '../../authz/authorizer.ts';
import type { Cel } from './cel.ts';

/** Decisions that one request may need; expressions cannot afford as many. */
const DECISIONS_MAX = 256;

const attributesOf = (user: UserInfo, request: AuthorizationRequest): Attributes => {
  if (request.kind === 'path') return pathAttributes(user, request.verb, request.path);
  const { group, fieldSelector, labelSelector: _unused, kind: _kind, ...rest } = request;
  return resourceAttributes(user, {
    ...rest,
    apiGroup: group,
    apiVersion: '*',
    ...(fieldSelector !== '' && { fieldRequirements: parseFieldSelector(fieldSelector).requirements }),
  });
};

/**
 * The authorizer as expressions see it: it answers what is known, and leaves the evaluation where a decision has to be
 * waited for. `settle` waits; then the evaluation is repeated. Decisions hold for one request.
 */
export class Decisions {
  readonly #cel: Cel;
  readonly #authorizer: Authorizer;
  readonly #known = new Map<string, AuthorizationDecision>();
  #pending: Promise<void> | undefined;

  constructor(cel: Cel, authorizer: Authorizer) {
    this.#cel = cel;
    this.#authorizer = authorizer;
  }

  for(user: UserInfo): CelSide {
    return {
      authorize: (request) => this.#decide(user, request),
      serviceAccount: (namespace, name) =>
        this.for(
          userInfo(serviceAccountUsername(namespace, name), [
            ...serviceAccountGroups(namespace),
            'system:authenticated',
          ]),
        ),
    };
  }

  async settle(): Promise<void> {
    assert(this.#pending !== undefined, 'an evaluation was left without a decision to wait for');
    await this.#pending;
    this.#pending = undefined;
  }

  #decide(user: UserInfo, request: AuthorizationRequest): AuthorizationDecision {
    const key = JSON.stringify([user.name, user.groups, request]);
    const known = this.#known.get(key);
    if (known) return known;
    if (this.#known.size >= DECISIONS_MAX)
      return { allowed: false, reason: '', error: 'too many authorization checks in one request' };
    const keep = (decision: AuthorizationDecision): AuthorizationDecision => {
      this.#known.set(key, decision);
      return decision;
    };
    const failed = (error: unknown): AuthorizationDecision =>
      keep({ allowed: false, reason: '', error: messageOf(error) });
    try {
      const verdict = this.#authorizer.authorize(attributesOf(user, request));
      if (!(verdict instanceof Promise))
        return keep({ allowed: verdict.decision === 'allow', reason: verdict.reason });
      this.#pending = verdict.then(
        ({ decision, reason }) => void keep({ allowed: decision === 'allow', reason }),
        (error: unknown) => void failed(error),
      );
    } catch (error) {
      return failed(error);
    }
    throw new this.#cel.EvaluationInterrupted();
  }
}
