import {
  MemberAddRequest,
  MemberAddResponse,
  MemberListRequest,
  MemberListResponse,
  MemberPromoteRequest,
  MemberPromoteResponse,
  MemberRemoveRequest,
  MemberRemoveResponse,
  MemberUpdateRequest,
  MemberUpdateResponse,
} from '../../proto/index.ts';
import { etcdError } from '../../refusals/errors.ts';
import { unary } from '../grpc/method.ts';
import type { Method } from '../grpc/method.ts';
import type { MemberApi } from '../member-api.ts';
import { headerAt } from './header.ts';

const SERVICE = 'etcdserverpb.Cluster';

/** etcd's rule (pkg/types.NewURLs): some, each http(s) or unix, host with a port, and no path. */
const checkURLs = (urls: readonly string[]): void => {
  if (urls.length === 0 || !urls.every(isMemberURL)) throw etcdError('MemberBadURLs');
};

const isMemberURL = (text: string): boolean => {
  const match = /^(https?|unixs?):\/\/([^/?#]+)(.*)$/.exec(text.trim());
  if (match === null) return false;
  const [, scheme, authority, rest] = match;
  if (scheme!.startsWith('unix')) return true;
  return /^(\[[0-9A-Fa-f:.%]+\]|[^:[\]@]*):\d{1,5}$/.test(authority!) && rest === '';
};

export const clusterMethods = (member: MemberApi): readonly Method[] => {
  // Answers about membership carry no revision, as in etcd.
  const header = () => headerAt(member, 0);
  return [
    unary(SERVICE, 'MemberAdd', {
      request: MemberAddRequest,
      response: MemberAddResponse,
      async handle(request, context) {
        checkURLs(request.peerURLs);
        await member.permit(context, 'admin');
        const added = await member.memberAdd(request, context);
        return { header: header(), ...added };
      },
    }),
    unary(SERVICE, 'MemberRemove', {
      request: MemberRemoveRequest,
      response: MemberRemoveResponse,
      async handle({ ID }, context) {
        await member.permit(context, 'admin');
        const members = await member.memberRemove(ID, context);
        return { header: header(), members };
      },
    }),
    unary(SERVICE, 'MemberUpdate', {
      request: MemberUpdateRequest,
      response: MemberUpdateResponse,
      async handle(request, context) {
        await member.permit(context, 'admin');
        const members = await member.memberUpdate(request, context);
        return { header: header(), members };
      },
    }),
    unary(SERVICE, 'MemberList', {
      request: MemberListRequest,
      response: MemberListResponse,
      async handle(request, context) {
        await member.permit(context, 'known');
        const members = await member.memberList(request, context);
        return { header: header(), members };
      },
    }),
    unary(SERVICE, 'MemberPromote', {
      request: MemberPromoteRequest,
      response: MemberPromoteResponse,
      async handle({ ID }, context) {
        await member.permit(context, 'admin');
        const members = await member.memberPromote(ID, context);
        return { header: header(), members };
      },
    }),
  ];
};
