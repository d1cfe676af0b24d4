import type * as mvcc from '../mvcc/model.ts';
import type * as proto from '../proto/index.ts';

const SORT_ORDERS: readonly mvcc.SortOrder[] = ['none', 'ascend', 'descend'];
const SORT_TARGETS: readonly mvcc.SortTarget[] = ['key', 'version', 'create', 'mod', 'value'];
const COMPARE_RESULTS: readonly mvcc.CompareResult[] = ['equal', 'greater', 'less', 'not-equal'];
const NO_BYTES = new Uint8Array(0);

/** Requests as they came off the wire, in the words of the store. */
export const toRange = (request: proto.RangeRequest): mvcc.RangeRequest => ({
  key: request.key,
  rangeEnd: request.rangeEnd,
  limit: request.limit,
  // Below zero is not given either, as etcd reads it.
  revision: Math.max(0, request.revision),
  sortOrder: SORT_ORDERS[request.sortOrder] ?? 'none',
  sortTarget: SORT_TARGETS[request.sortTarget] ?? 'key',
  keysOnly: request.keysOnly,
  countOnly: request.countOnly,
  minModRevision: request.minModRevision,
  maxModRevision: request.maxModRevision,
  minCreateRevision: request.minCreateRevision,
  maxCreateRevision: request.maxCreateRevision,
});

const toCompare = (compare: proto.Compare): mvcc.Compare => {
  const about = {
    key: compare.key,
    rangeEnd: compare.rangeEnd,
    result: COMPARE_RESULTS[compare.result] ?? 'equal',
  };
  switch (compare.target) {
    case 1:
      return { ...about, target: 'create', operand: compare.createRevision ?? 0 };
    case 2:
      return { ...about, target: 'mod', operand: compare.modRevision ?? 0 };
    case 3:
      return { ...about, target: 'value', operand: compare.value ?? NO_BYTES };
    case 4:
      return { ...about, target: 'lease', operand: compare.lease ?? 0n };
    case 0:
    default:
      return { ...about, target: 'version', operand: compare.version ?? 0 };
  }
};

const toOp = (op: proto.RequestOp): mvcc.TxnOp[] => {
  if (op.requestRange) return [{ type: 'range', request: toRange(op.requestRange) }];
  if (op.requestPut) return [{ type: 'put', request: op.requestPut }];
  if (op.requestDeleteRange) return [{ type: 'delete-range', request: op.requestDeleteRange }];
  if (op.requestTxn) return [{ type: 'txn', request: toTxn(op.requestTxn) }];
  return [];
};

export const toTxn = (request: proto.TxnRequest): mvcc.TxnRequest => ({
  compare: request.compare.map(toCompare),
  success: request.success.flatMap(toOp),
  failure: request.failure.flatMap(toOp),
});
