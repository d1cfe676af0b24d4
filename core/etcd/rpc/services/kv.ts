import {
  CompactionRequest,
  CompactionResponse,
  DeleteRangeRequest,
  DeleteRangeResponse,
  PutRequest,
  PutResponse,
  RangeRequest,
  RangeResponse,
  TxnRequest,
  TxnResponse,
} from '../../proto/index.ts';
import { unary } from '../grpc/method.ts';
import type { Method } from '../grpc/method.ts';
import type { MemberApi } from '../member-api.ts';
import { withHeader } from './header.ts';
import { checkDeleteRange, checkPut, checkRange, checkTxn } from './kv-checks.ts';

const SERVICE = 'etcdserverpb.KV';

export const kvMethods = (member: MemberApi, options: { readonly txnOpsMax: number }): readonly Method[] => [
  unary(SERVICE, 'Range', {
    request: RangeRequest,
    response: RangeResponse,
    async handle(request, context) {
      checkRange(request);
      return withHeader(member, await member.range(request, context));
    },
  }),
  unary(SERVICE, 'Put', {
    request: PutRequest,
    response: PutResponse,
    async handle(request, context) {
      checkPut(request);
      return withHeader(member, await member.put(request, context));
    },
  }),
  unary(SERVICE, 'DeleteRange', {
    request: DeleteRangeRequest,
    response: DeleteRangeResponse,
    async handle(request, context) {
      checkDeleteRange(request);
      return withHeader(member, await member.deleteRange(request, context));
    },
  }),
  unary(SERVICE, 'Txn', {
    request: TxnRequest,
    response: TxnResponse,
    async handle(request, context) {
      checkTxn(request, options.txnOpsMax);
      return withHeader(member, await member.txn(request, context));
    },
  }),
  unary(SERVICE, 'Compact', {
    request: CompactionRequest,
    response: CompactionResponse,
    async handle(request, context) {
      return withHeader(member, await member.compact(request, context));
    },
  }),
];
