import { ReasonError } from '../../../base/errors.ts';
import {
  LeaseGrantRequest,
  LeaseGrantResponse,
  LeaseKeepAliveRequest,
  LeaseKeepAliveResponse,
  LeaseLeasesRequest,
  LeaseLeasesResponse,
  LeaseRevokeRequest,
  LeaseRevokeResponse,
  LeaseTimeToLiveRequest,
  LeaseTimeToLiveResponse,
} from '../../proto/index.ts';
import { bidiStream, unary } from '../grpc/method.ts';
import type { Method } from '../grpc/method.ts';
import type { MemberApi, RequestContext } from '../member-api.ts';
import { headerAt, withHeader } from './header.ts';

const SERVICE = 'etcdserverpb.Lease';

const isLeaseNotFound = (error: unknown): boolean =>
  error instanceof ReasonError && error.reason === 'LeaseNotFound';

export const leaseMethods = (member: MemberApi): readonly Method[] => [
  unary(SERVICE, 'LeaseGrant', {
    request: LeaseGrantRequest,
    response: LeaseGrantResponse,
    async handle(request, context) {
      return withHeader(member, await member.leaseGrant(request, context));
    },
  }),
  unary(SERVICE, 'LeaseRevoke', {
    request: LeaseRevokeRequest,
    response: LeaseRevokeResponse,
    async handle(request, context) {
      return withHeader(member, await member.leaseRevoke(request, context));
    },
  }),
  bidiStream(SERVICE, 'LeaseKeepAlive', {
    request: LeaseKeepAliveRequest,
    response: LeaseKeepAliveResponse,
    async handle(stream) {
      for (;;) {
        const request = await stream.receive();
        if (request === undefined) return;
        // Before the renewal: a lease revoked at 3 must not seem alive at 4.
        const header = headerAt(member, member.revision());
        const TTL = await renew(member, request.ID, stream);
        stream.send({ header, ID: request.ID, TTL });
        if (!(await stream.drained())) return;
      }
    },
  }),
  unary(SERVICE, 'LeaseTimeToLive', {
    request: LeaseTimeToLiveRequest,
    response: LeaseTimeToLiveResponse,
    async handle(request, context) {
      try {
        return withHeader(member, await member.leaseTimeToLive(request, context));
      } catch (error) {
        if (!isLeaseNotFound(error)) throw error;
        return { header: headerAt(member, member.revision()), ID: request.ID, TTL: -1 };
      }
    },
  }),
  unary(SERVICE, 'LeaseLeases', {
    request: LeaseLeasesRequest,
    response: LeaseLeasesResponse,
    async handle(_request, context) {
      return withHeader(member, await member.leaseLeases(context));
    },
  }),
];

/** A lease that is gone has no time left; that is an answer, not an error, and the stream continues. */
const renew = async (member: MemberApi, id: bigint, context: RequestContext): Promise<number> => {
  try {
    return await member.leaseRenew(id, context);
  } catch (error) {
    if (isLeaseNotFound(error)) return 0;
    throw error;
  }
};
