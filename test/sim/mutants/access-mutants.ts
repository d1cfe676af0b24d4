import type { RequestContext } from '../../../core/etcd/rpc/member-api.ts';
import type { Mutant } from './mutant.ts';

/** What a user may do is looked up once and never again. */
export const keptPermissions: Mutant = {
  name: 'permissions that were looked up are kept after a change',
  foundBy: ['auth'],
  started(member) {
    const { auth } = member.machine;
    const permissionsOf = auth.permissionsOf.bind(auth);
    const known = new Map<string, ReturnType<typeof permissionsOf>>();
    auth.permissionsOf = (user) => {
      if (!known.has(user)) known.set(user, permissionsOf(user));
      return known.get(user);
    };
  },
};

/** The one before gave up its place, not the lock: anyone who waits behind it has to look again. */
export const unlookedLine: Mutant = {
  name: 'whoever waits for a lock takes it when the one before is gone',
  foundBy: ['lock'],
  api(api) {
    const waited = new WeakSet<RequestContext>();
    return {
      ...api,
      async range(request, context) {
        const answer = await api.range(request, context);
        if (request.maxCreateRevision === 0 || (answer.kvs ?? []).length === 0) return answer;
        if (waited.has(context)) return { ...answer, kvs: [], count: 0 };
        waited.add(context);
        return answer;
      },
    };
  },
};
