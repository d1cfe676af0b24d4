import { messageOf } from '../../../base/errors.ts';
import { badRequest, formatTime } from '../../../api/meta/index.ts';
import type { Clock } from '../../../base/clock.ts';
import { obj, str, strs } from '../../../api/validation/read.ts';
import { withAuthenticatedGroup } from '../../authn/authenticator.ts';
import type { UserInfo } from '../../server/user.ts';
import type { RestStorage } from '../rest-storage.ts';
import { answerOf } from '../subresources/answer.ts';

const userOnWire = ({ name, uid, groups, extra }: UserInfo): object => ({
  username: name,
  ...(uid !== '' && { uid }),
  ...(groups.length > 0 && { groups: [...groups] }),
  ...(Object.keys(extra).length > 0 && { extra }),
});

export interface ReviewedToken {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
}

/** Undefined: no one knows the token. Throws, with a sentence, for one that is known and bad. */
export type TokenReviewer = (
  token: string,
  audiences: readonly string[] | undefined,
) => Promise<ReviewedToken | undefined>;

/** Other components ask whose token they were shown. */
export const tokenReviews = (reviewToken: TokenReviewer | undefined): RestStorage => ({
  async create(_scope, review, { validate }) {
    const spec = obj(review, 'spec');
    const token = str(spec, 'token');
    if (token === '') throw badRequest('token is required for TokenReview in authentication');
    await validate(review, undefined);
    if (reviewToken === undefined) return answerOf({ ...review, status: { user: {} } });
    const audiences = strs(spec, 'audiences');
    try {
      const known = await reviewToken(token, audiences.length > 0 ? audiences : undefined);
      const status = known
        ? {
            authenticated: true,
            user: userOnWire(withAuthenticatedGroup(known.user)),
            audiences: [...known.audiences],
          }
        : { user: {}, error: 'invalid bearer token' };
      return answerOf({ ...review, status });
    } catch (error) {
      return answerOf({ ...review, status: { user: {}, error: messageOf(error) } });
    }
  },
});

/** Who am I, as this server sees it. */
export const selfSubjectReviews = (clock: Clock): RestStorage => ({
  async create({ user }, review, { validate }) {
    await validate(review, undefined);
    return answerOf({
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { creationTimestamp: formatTime(clock.nowMs()) },
      status: { userInfo: userOnWire(user) },
    });
  },
});
