import { unreachable } from '../../base/assert.ts';
import type * as mvcc from '../mvcc/model.ts';
import type * as proto from '../proto/index.ts';

/** What the store answered, as messages; stored pairs go in as the bytes they are stored in. */
export const fromRange = (result: mvcc.RangeResult): proto.RangeResponseIn => ({
  kvs: result.kvs.map((kv) => kv.encoded),
  more: result.more,
  count: result.count,
});

export const fromPut = (result: mvcc.PutResult): proto.PutResponseIn =>
  result.prevKv === undefined ? {} : { prevKv: result.prevKv.encoded };

export const fromDeleteRange = (result: mvcc.DeleteRangeResult): proto.DeleteRangeResponseIn => ({
  deleted: result.deleted,
  prevKvs: result.prevKvs.map((kv) => kv.encoded),
});

const fromOp = (result: mvcc.TxnOpResult): proto.ResponseOpIn => {
  const header = { revision: result.result.revision };
  switch (result.type) {
    case 'range':
      return { responseRange: { header, ...fromRange(result.result) } };
    case 'put':
      return { responsePut: { header, ...fromPut(result.result) } };
    case 'delete-range':
      return { responseDeleteRange: { header, ...fromDeleteRange(result.result) } };
    case 'txn':
      return { responseTxn: { header: {}, ...fromTxn(result.result) } };
    default:
      return unreachable(result, 'response of a transaction');
  }
};

export const fromTxn = (result: mvcc.TxnResult): proto.TxnResponseIn => ({
  succeeded: result.succeeded,
  responses: result.responses.map(fromOp),
});
