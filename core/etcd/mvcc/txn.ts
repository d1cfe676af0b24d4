import { unreachable } from '../../base/assert.ts';
import { leaseNotFound, keyNotFound } from './errors.ts';
import { KeyValue, EMPTY, NO_LEASE } from './key-value.ts';
import { keyString, type Compare, type PutRequest, type TxnOp, type TxnRequest } from './model.ts';
import type { LeaseBook } from './leases.ts';
import { checkRevision, readAll, type ReadView } from './range.ts';

/** Which branch each transaction takes, the outer one first and nested ones in order of appearance. */
export type TxnPath = boolean[];

/** All compares are decided on the state before the transaction, nested ones too. */
export const decidePath = (view: ReadView, request: TxnRequest, path: TxnPath = []): TxnPath => {
  const succeeded = request.compare.every((compare) => holds(view, compare));
  path.push(succeeded);
  for (const op of succeeded ? request.success : request.failure)
    if (op.type === 'txn') decidePath(view, op.request, path);
  return path;
};

const ABSENT = KeyValue.of({
  key: EMPTY,
  createRevision: 0,
  modRevision: 0,
  version: 0,
  value: EMPTY,
  lease: NO_LEASE,
});

const holds = (view: ReadView, compare: Compare): boolean => {
  const single = compare.rangeEnd === undefined || compare.rangeEnd.byteLength === 0;
  if (single && compare.target !== 'value' && compare.target !== 'lease') {
    // The common compare (one key's revision or version) is answered by the index alone.
    const revisions = view.index.get(keyString(compare.key));
    const live = revisions?.live === true;
    return matches(
      Math.sign(numberOf(compare.target, live ? revisions : undefined) - compare.operand),
      compare,
    );
  }
  const kvs = readAll(view, compare);
  // A value that is absent is no empty value: such a compare never holds.
  if (kvs.length === 0) return compare.target !== 'value' && matches(order(ABSENT, compare), compare);
  return kvs.every((kv) => matches(order(kv, compare), compare));
};

const numberOf = (
  target: 'version' | 'create' | 'mod',
  live: { readonly version: number; readonly created: number; readonly newest: number } | undefined,
): number => {
  if (live === undefined) return 0;
  return target === 'version' ? live.version : target === 'create' ? live.created : live.newest;
};

const order = (kv: KeyValue, compare: Compare): number => {
  switch (compare.target) {
    case 'version':
      return Math.sign(kv.version - compare.operand);
    case 'create':
      return Math.sign(kv.createRevision - compare.operand);
    case 'mod':
      return Math.sign(kv.modRevision - compare.operand);
    case 'value':
      return Buffer.compare(kv.value, compare.operand);
    case 'lease':
      return kv.lease < compare.operand ? -1 : kv.lease > compare.operand ? 1 : 0;
    default:
      return unreachable(compare, 'compare target');
  }
};

const matches = (sign: number, { result }: Compare): boolean => {
  switch (result) {
    case 'equal':
      return sign === 0;
    case 'not-equal':
      return sign !== 0;
    case 'greater':
      return sign > 0;
    case 'less':
      return sign < 0;
    default:
      return unreachable(result, 'compare result');
  }
};

/** Refuses a put that names an unknown lease, or that builds on a key which does not exist. */
export const checkPut = (view: ReadView, leases: LeaseBook, request: PutRequest): void => {
  if (request.lease && !leases.exists(request.lease)) throw leaseNotFound();
  if ((request.ignoreValue || request.ignoreLease) && !view.index.get(keyString(request.key))?.live)
    throw keyNotFound();
};

/** Everything that can be refused is refused before the first change: a transaction has no half. */
export const checkOps = (view: ReadView, leases: LeaseBook, request: TxnRequest, path: TxnPath): void => {
  const next = path.values();
  const check = (txn: TxnRequest): void => {
    const ops: readonly TxnOp[] = next.next().value === true ? txn.success : txn.failure;
    for (const op of ops) {
      if (op.type === 'range') checkRevision(op.request.revision ?? 0, view);
      else if (op.type === 'put') checkPut(view, leases, op.request);
      else if (op.type === 'txn') check(op.request);
    }
  };
  check(request);
};

export const isReadOnly = (request: TxnRequest): boolean =>
  [...request.success, ...request.failure].every((op) =>
    op.type === 'txn' ? isReadOnly(op.request) : op.type === 'range',
  );
