import { createHash } from 'node:crypto';
import {
  ALARM_ACTION,
  ALARM_TYPE,
  AlarmRequest,
  AlarmResponse,
  DefragmentRequest,
  DefragmentResponse,
  DowngradeRequest,
  DowngradeResponse,
  HashKVRequest,
  HashKVResponse,
  HashRequest,
  HashResponse,
  MoveLeaderRequest,
  MoveLeaderResponse,
  SnapshotRequest,
  SnapshotResponse,
  StatusRequest,
  StatusResponse,
} from '../../proto/index.ts';
import type { AlarmMember, SnapshotResponseIn } from '../../proto/index.ts';
import { etcdError, statusOfReason } from '../../refusals/errors.ts';
import { serverStream, unary } from '../grpc/method.ts';
import type { Method, OutgoingStream } from '../grpc/method.ts';
import { StatusError } from '../grpc/status.ts';
import type { MemberApi } from '../member-api.ts';
import { headerAt, withHeader } from './header.ts';

const SERVICE = 'etcdserverpb.Maintenance';
const SNAPSHOT_BLOB_BYTES_MAX = 64 * 1024;

/** As etcd prints an alarm: tools read it from `etcdctl endpoint status`. */
const alarmText = ({ memberID, alarm }: AlarmMember): string => {
  const name = Object.entries(ALARM_TYPE).find(([, value]) => value === alarm)?.[0] ?? String(alarm);
  return `memberID:${memberID} alarm:${name} `;
};

export const maintenanceMethods = (member: MemberApi): readonly Method[] => [
  unary(SERVICE, 'Alarm', {
    request: AlarmRequest,
    response: AlarmResponse,
    async handle(request, context) {
      await member.permit(context, request.action === ALARM_ACTION.GET ? 'known' : 'admin');
      return withHeader(member, await member.alarm(request, context));
    },
  }),
  unary(SERVICE, 'Status', {
    request: StatusRequest,
    response: StatusResponse,
    async handle(_request, context) {
      await member.permit(context, 'known');
      const leader = member.leaderId();
      const errors = member.activeAlarms().map(alarmText);
      if (leader === 0n) errors.unshift(statusOfReason('NoLeader').text);
      return {
        downgradeInfo: { enabled: false },
        ...member.status(),
        header: headerAt(member, member.revision()),
        leader,
        raftTerm: member.term(),
        isLearner: member.isLearner(),
        errors,
      };
    },
  }),
  unary(SERVICE, 'Defragment', {
    request: DefragmentRequest,
    response: DefragmentResponse,
    async handle(_request, context) {
      await member.permit(context, 'admin');
      await member.defragment(context);
      return {};
    },
  }),
  unary(SERVICE, 'Hash', {
    request: HashRequest,
    response: HashResponse,
    async handle(_request, context) {
      await member.permit(context, 'admin');
      return withHeader(member, await member.hash(context));
    },
  }),
  unary(SERVICE, 'HashKV', {
    request: HashKVRequest,
    response: HashKVResponse,
    async handle(request, context) {
      await member.permit(context, 'admin');
      return withHeader(member, await member.hashKV(request, context));
    },
  }),
  serverStream(SERVICE, 'Snapshot', {
    request: SnapshotRequest,
    response: SnapshotResponse,
    handle: (_request, stream) => sendSnapshot(member, stream),
  }),
  unary(SERVICE, 'MoveLeader', {
    request: MoveLeaderRequest,
    response: MoveLeaderResponse,
    async handle({ targetID }, context) {
      await member.permit(context, 'admin');
      if (member.leaderId() !== member.memberId) throw etcdError('NotLeader');
      await member.moveLeader(targetID, context);
      return {};
    },
  }),
  unary(SERVICE, 'Downgrade', {
    request: DowngradeRequest,
    response: DowngradeResponse,
    async handle(_request, context) {
      await member.permit(context, 'admin');
      throw new StatusError(
        'Unimplemented',
        'etcdserver: this member has one storage version and cannot downgrade',
      );
    },
  }),
];

/** The file in pieces, then its SHA-256 as the last piece: `etcdctl snapshot restore` checks it. */
const sendSnapshot = async (member: MemberApi, stream: OutgoingStream<SnapshotResponseIn>): Promise<void> => {
  await member.permit(stream, 'admin');
  const { sizeBytes, version, chunks } = await member.snapshot(stream);
  const hash = createHash('sha256');
  let remainingBytes = sizeBytes;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += SNAPSHOT_BLOB_BYTES_MAX) {
      const blob = chunk.subarray(at, at + SNAPSHOT_BLOB_BYTES_MAX);
      hash.update(blob);
      remainingBytes -= blob.length;
      stream.send({ remainingBytes: Math.max(remainingBytes, 0), blob, version });
      if (!(await stream.drained())) return;
    }
  }
  if (remainingBytes !== 0)
    throw new StatusError('Internal', `etcdserver: snapshot ended ${remainingBytes} bytes before its size`);
  stream.send({ remainingBytes: 0, blob: hash.digest(), version });
};
