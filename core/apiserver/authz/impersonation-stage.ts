import { assert } from '../../base/assert.ts';
import { badRequest } from '../../api/meta/index.ts';
import { unescapeExtraKey } from '../authn/front-proxy.ts';
import {
  ALL_AUTHENTICATED,
  ALL_UNAUTHENTICATED,
  ANONYMOUS,
  serviceAccountGroups,
  splitServiceAccountUsername,
  type UserInfo,
} from '../server/user.ts';
import { contextKey, type RequestContext } from '../server/context.ts';
import type { RequestHeaders } from '../server/headers.ts';
import type { Stage, StageResult } from '../server/pipeline.ts';
import { forbiddenFor, resourceAttributes, type Authorizer } from './authorizer.ts';

/** Who really sent an impersonating request. */
export const IMPERSONATOR = contextKey<UserInfo>('impersonator');

const USER = 'impersonate-user';
const GROUP = 'impersonate-group';
const UID = 'impersonate-uid';
const EXTRA_PREFIX = 'impersonate-extra-';
const AUTHENTICATION_GROUP = 'authentication.k8s.io';

interface Wish {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Undefined where no one is to be impersonated. */
const wishOf = (headers: RequestHeaders): Wish | undefined => {
  const user = headers.get(USER) ?? '';
  const uid = headers.get(UID) ?? '';
  const groups = headers.all(GROUP);
  const extra: Record<string, readonly string[]> = {};
  for (const [name, values] of headers.entries())
    if (name.startsWith(EXTRA_PREFIX)) extra[unescapeExtraKey(name.slice(EXTRA_PREFIX.length))] = values;
  const asksForMore = groups.length > 0 || uid !== '' || Object.keys(extra).length > 0;
  if (user === '' && asksForMore)
    throw badRequest(`requested ${describe({ groups, uid, extra })} without impersonating a user`);
  return user === '' ? undefined : { user, groups, uid, extra };
};

/** In upstream's order and, as far as clients read it, form: the references that were asked for. */
const describe = ({ groups, uid, extra }: Omit<Wish, 'user'>): string => {
  const reference = (kind: string, name: string, apiVersion = '', fieldPath = ''): string =>
    `{${kind}  ${name}  ${apiVersion}  ${fieldPath}}`;
  const version = `${AUTHENTICATION_GROUP}/v1`;
  return `[${[
    ...groups.map((group) => reference('Group', group)),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => reference('UserExtra', value, version, key)),
    ),
    ...(uid === '' ? [] : [reference('UID', uid, version)]),
  ].join(' ')}]`;
};

const withStandingGroup = (name: string, groups: readonly string[]): readonly string[] => {
  if (name === ANONYMOUS)
    return groups.includes(ALL_UNAUTHENTICATED) ? groups : [...groups, ALL_UNAUTHENTICATED];
  return groups.includes(ALL_AUTHENTICATED) || groups.includes(ALL_UNAUTHENTICATED)
    ? groups
    : [...groups, ALL_AUTHENTICATED];
};

/** Lets a caller act as another, if it may impersonate every part of that identity. */
export const impersonationStage = (authorizer: Authorizer): Stage => ({
  name: 'impersonation',
  run(context) {
    const wish = wishOf(context.request.headers);
    return wish ? impersonate(context, wish, authorizer) : 'next';
  },
});

const impersonate = async (
  context: RequestContext,
  wish: Wish,
  authorizer: Authorizer,
): Promise<StageResult> => {
  const { headers } = context.request;
  const requestor = context.user;
  assert(requestor, 'impersonation stands behind authentication');
  const check = async (
    parts: Partial<
      Pick<Parameters<typeof resourceAttributes>[1], 'apiGroup' | 'apiVersion' | 'subresource' | 'namespace'>
    > & {
      readonly resource: string;
      readonly name: string;
    },
  ): Promise<void> => {
    const attributes = resourceAttributes(requestor, { verb: 'impersonate', ...parts });
    const { decision, reason } = await authorizer.authorize(attributes);
    if (decision !== 'allow') throw forbiddenFor(attributes, reason);
  };

  const account = splitServiceAccountUsername(wish.user);
  if (account) await check({ resource: 'serviceaccounts', ...account });
  else await check({ resource: 'users', name: wish.user });
  for (const group of wish.groups) await check({ resource: 'groups', name: group });
  const own = { apiGroup: AUTHENTICATION_GROUP, apiVersion: 'v1' };
  for (const [key, values] of Object.entries(wish.extra))
    for (const value of values)
      await check({ ...own, resource: 'userextras', subresource: key, name: value });
  if (wish.uid !== '') await check({ ...own, resource: 'uids', name: wish.uid });

  const groups = account && wish.groups.length === 0 ? serviceAccountGroups(account.namespace) : wish.groups;
  context.set(IMPERSONATOR, requestor);
  context.user = {
    name: wish.user,
    uid: wish.uid,
    groups: withStandingGroup(wish.user, groups),
    extra: wish.extra,
  };
  for (const [name] of [...headers.entries()])
    if ([USER, GROUP, UID].includes(name) || name.startsWith(EXTRA_PREFIX)) headers.delete(name);
  return 'next';
};
