import { duplicateKey } from './errors.ts';
import { keyString, toSpan, type KeySpan, type KeyString, type TxnOp, type TxnRequest } from './model.ts';

interface Touched {
  readonly puts: Set<KeyString>;
  readonly deletes: KeySpan[];
}

/**
 * Refuses a transaction that could put a key twice, or put and delete it: both would share one revision. The
 * two branches of one nested transaction exclude each other and may name the same keys. Checked before a
 * transaction is proposed, as in etcd.
 */
export const checkTxnOverlap = (request: TxnRequest): void => {
  touchedBy(request.success);
  touchedBy(request.failure);
};

const isDeleted = (deletes: readonly KeySpan[], key: KeyString): boolean =>
  deletes.some(({ start, end }) =>
    end === undefined ? key === start : key >= start && (end === '' || key < end),
  );

const touchedBy = (ops: readonly TxnOp[]): Touched => {
  const deletes: KeySpan[] = [];
  for (const op of ops) if (op.type === 'delete-range') deletes.push(toSpan(op.request));
  const puts = new Set<KeyString>();
  for (const op of ops) {
    if (op.type !== 'txn') continue;
    const then = touchedBy(op.request.success);
    const otherwise = touchedBy(op.request.failure);
    for (const key of then.puts) {
      if (puts.has(key) || isDeleted(deletes, key)) throw duplicateKey();
      puts.add(key);
    }
    for (const key of otherwise.puts) {
      if ((puts.has(key) && !then.puts.has(key)) || isDeleted(deletes, key)) throw duplicateKey();
      puts.add(key);
    }
    deletes.push(...then.deletes, ...otherwise.deletes);
  }
  for (const op of ops) {
    if (op.type !== 'put') continue;
    const key = keyString(op.request.key);
    if (puts.has(key) || isDeleted(deletes, key)) throw duplicateKey();
    puts.add(key);
  }
  return { puts, deletes };
};
