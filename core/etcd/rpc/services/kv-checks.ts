import { toTxn } from '../../apply/requests.ts';
import { checkTxnOverlap } from '../../mvcc/txn-overlap.ts';
import type {
  DeleteRangeRequest,
  PutRequest,
  RangeRequest,
  RequestOp,
  TxnRequest,
} from '../../proto/index.ts';
import { SORT_ORDER, SORT_TARGET } from '../../proto/index.ts';
import { etcdError } from '../../refusals/errors.ts';

/** What etcd refuses before it proposes anything, in its order: clients see the first that applies. */
export const checkRange = (request: RangeRequest): void => {
  if (request.key.length === 0) throw etcdError('EmptyKey');
  const known =
    request.sortOrder >= SORT_ORDER.NONE &&
    request.sortOrder <= SORT_ORDER.DESCEND &&
    request.sortTarget >= SORT_TARGET.KEY &&
    request.sortTarget <= SORT_TARGET.VALUE;
  if (!known) throw etcdError('InvalidSortOption');
};

export const checkPut = (request: PutRequest): void => {
  if (request.key.length === 0) throw etcdError('EmptyKey');
  if (request.ignoreValue && request.value.length !== 0) throw etcdError('ValueProvided');
  if (request.ignoreLease && request.lease !== 0n) throw etcdError('LeaseProvided');
};

export const checkDeleteRange = (request: DeleteRangeRequest): void => {
  if (request.key.length === 0) throw etcdError('EmptyKey');
};

export const checkTxn = (request: TxnRequest, opsMax: number): void => {
  checkTxnShape(request, opsMax);
  // One operation a branch, as kube-apiserver sends, cannot overlap with itself.
  if (isPlain(request.success) && isPlain(request.failure)) return;
  checkTxnOverlap(toTxn(request));
};

const isPlain = (ops: readonly RequestOp[]): boolean =>
  ops.length === 0 || (ops.length === 1 && ops[0]!.requestTxn === undefined);

/** Each level of nesting has what its parent left of the allowance, so depth is bounded by it too. */
const checkTxnShape = (request: TxnRequest, opsMax: number): void => {
  const ops = Math.max(request.compare.length, request.success.length, request.failure.length);
  if (ops > opsMax) throw etcdError('TooManyOps');
  for (const { key } of request.compare) if (key.length === 0) throw etcdError('EmptyKey');
  for (const op of request.success) checkOp(op, opsMax - ops);
  for (const op of request.failure) checkOp(op, opsMax - ops);
};

const checkOp = (op: RequestOp, opsMax: number): void => {
  if (op.requestRange !== undefined) checkRange(op.requestRange);
  else if (op.requestPut !== undefined) checkPut(op.requestPut);
  else if (op.requestDeleteRange !== undefined) checkDeleteRange(op.requestDeleteRange);
  else if (op.requestTxn !== undefined) checkTxnShape(op.requestTxn, opsMax);
  else throw etcdError('KeyNotFound');
};
