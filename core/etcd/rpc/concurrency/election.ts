import * as proto from '../../proto/index.ts';
import { serverStream, unary } from '../grpc/method.ts';
import type { Method } from '../grpc/method.ts';
import type { MemberApi, RequestContext } from '../member-api.ts';
import { headerAt } from '../services/header.ts';
import { withLostCodes } from './lost-codes.ts';
import { WaitingLine } from './waiting-line.ts';

const SERVICE = 'v3electionpb.Election';

/** etcd's own texts, which it sends with the code Unknown. */
const missingLeader = (): Error => new Error('"leader" field must be provided');
const notLeader = (): Error => new Error('election: not leader');
const noLeader = (): Error => new Error('election: no leader');

/** Does it only while the leader's key is the one that it was elected with. */
const asLeader = async (
  member: MemberApi,
  context: RequestContext,
  { key, rev }: proto.LeaderKey,
  op: proto.RequestOpIn,
): Promise<boolean> => {
  const compare = {
    key,
    target: proto.COMPARE_TARGET.CREATE,
    result: proto.COMPARE_RESULT.EQUAL,
    createRevision: rev,
  };
  const request = proto.TxnRequest.decode(proto.TxnRequest.encode({ compare: [compare], success: [op] }));
  return (await member.txn(request, context)).succeeded === true;
};

const proclaim = async (
  member: MemberApi,
  context: RequestContext,
  leader: proto.LeaderKey,
  value: Uint8Array,
): Promise<void> => {
  const { key, lease } = leader;
  if (!(await asLeader(member, context, leader, { requestPut: { key, value, lease } }))) throw notLeader();
};

/** `v3election`: elections for clients that cannot watch on their own. */
export const electionMethods = (member: MemberApi): readonly Method[] => methodsOf(member).map(withLostCodes);

const methodsOf = (member: MemberApi): readonly Method[] => {
  const header = () => headerAt(member, member.revision());
  return [
    unary(SERVICE, 'Campaign', {
      request: proto.CampaignRequest,
      response: proto.CampaignResponse,
      async handle(request, context) {
        const [name, value] = [Buffer.from(request.name), Buffer.from(request.value)];
        const line = new WaitingLine(member, context, name);
        const place = await line.takePlace(request.lease, value);
        const leader = { name, key: place.key, rev: place.revision, lease: place.lease };
        if (place.isOld && !value.equals(place.value)) await proclaim(member, context, leader, value);
        await line.wait(place);
        return { header: header(), leader };
      },
    }),
    unary(SERVICE, 'Proclaim', {
      request: proto.ProclaimRequest,
      response: proto.ProclaimResponse,
      async handle({ leader, value }, context) {
        if (leader === undefined) throw missingLeader();
        await proclaim(member, context, leader, value);
        return { header: header() };
      },
    }),
    unary(SERVICE, 'Leader', {
      request: proto.LeaderRequest,
      response: proto.LeaderResponse,
      async handle({ name }, context) {
        const { kv, revision } = await new WaitingLine(member, context, Buffer.from(name)).holder();
        if (kv === undefined) throw noLeader();
        return { header: headerAt(member, revision), kv };
      },
    }),
    serverStream(SERVICE, 'Observe', {
      request: proto.LeaderRequest,
      response: proto.LeaderResponse,
      async handle({ name }, stream) {
        const line = new WaitingLine(member, stream, Buffer.from(name));
        let told = '';
        while (!stream.over) {
          const { kv, revision } = await line.holder();
          const state = kv === undefined ? '' : `${kv.createRevision}/${kv.modRevision}`;
          if (kv !== undefined && state !== told) stream.send({ header: headerAt(member, revision), kv });
          told = state;
          if (!(await stream.drained())) return;
          await line.changed(revision);
        }
      },
    }),
    unary(SERVICE, 'Resign', {
      request: proto.ResignRequest,
      response: proto.ResignResponse,
      async handle({ leader }, context) {
        if (leader === undefined) throw missingLeader();
        // One that leads no longer has nothing to give up, which is no error.
        await asLeader(member, context, leader, { requestDeleteRange: { key: leader.key } });
        return { header: header() };
      },
    }),
  ];
};
