import type { Random } from '../../../base/random.ts';
import { checkTxnOverlap } from '../txn-overlap.ts';
import type {
  Compare,
  DeleteRangeRequest,
  KeyRange,
  PutRequest,
  RangeRequest,
  TxnOp,
  TxnRequest,
} from '../model.ts';

const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)] as T;
const maybe = (random: Random, outOf = 2): boolean => random.below(outOf) === 0;

const KEYS = ['a', 'b', 'ba', 'c\xff', 'd', 'e\x00', 'f', 'g'].map((key) => Buffer.from(key, 'latin1'));
const ENDS = [undefined, Buffer.of(0), Buffer.from('c'), Buffer.from('e'), Buffer.from('z')];

export const randomRange = (random: Random): KeyRange => ({
  key: pick(random, KEYS),
  rangeEnd: pick(random, ENDS),
});

export const randomRead = (random: Random, revision: number): RangeRequest => {
  const bound = (): number => (maybe(random, 6) ? random.below(revision + 1) : 0);
  return {
    ...randomRange(random),
    limit: maybe(random) ? random.below(5) : 0,
    revision: maybe(random) ? random.below(revision + 2) : 0,
    sortOrder: pick(random, ['none', 'none', 'ascend', 'descend']),
    sortTarget: pick(random, ['key', 'key', 'mod', 'create', 'version', 'value']),
    keysOnly: maybe(random, 5),
    countOnly: maybe(random, 8),
    minModRevision: bound(),
    maxModRevision: bound(),
    minCreateRevision: bound(),
    maxCreateRevision: bound(),
  };
};

export const randomPut = (random: Random): PutRequest => {
  const ignoreValue = maybe(random, 8);
  const ignoreLease = maybe(random, 8);
  return {
    key: pick(random, KEYS),
    value: ignoreValue ? Buffer.alloc(0) : Buffer.from(`v${random.below(1000)}`),
    lease: ignoreLease || maybe(random) ? 0n : BigInt(random.below(3)) * -7n,
    prevKv: maybe(random),
    ignoreValue,
    ignoreLease,
  };
};

export const randomDelete = (random: Random): DeleteRangeRequest => ({
  ...randomRange(random),
  prevKv: maybe(random),
});

const randomCompare = (random: Random, revision: number): Compare => {
  const range = maybe(random) ? { key: pick(random, KEYS) } : randomRange(random);
  const result = pick(random, ['equal', 'not-equal', 'greater', 'less'] as const);
  const target = pick(random, ['version', 'create', 'mod', 'value', 'lease'] as const);
  if (target === 'value') return { ...range, result, target, operand: Buffer.from(`v${random.below(1000)}`) };
  if (target === 'lease') return { ...range, result, target, operand: BigInt(random.below(3)) * -7n };
  return { ...range, result, target, operand: random.below(target === 'version' ? 4 : revision + 1) };
};

const randomOp = (random: Random, revision: number, depth: number): TxnOp => {
  const type = pick(random, ['range', 'put', 'put', 'delete-range', 'txn'] as const);
  if (type === 'put') return { type, request: randomPut(random) };
  if (type === 'delete-range') return { type, request: { ...randomDelete(random) } };
  if (type === 'txn' && depth > 0) return { type, request: anyTxn(random, revision, depth - 1) };
  return { type: 'range', request: randomRead(random, revision) };
};

const anyTxn = (random: Random, revision: number, depth: number): TxnRequest => ({
  compare: Array.from({ length: random.below(3) }, () => randomCompare(random, revision)),
  success: Array.from({ length: random.below(4) }, () => randomOp(random, revision, depth)),
  failure: Array.from({ length: random.below(3) }, () => randomOp(random, revision, depth)),
});

/** One that would pass the check before it is proposed. */
export const randomTxn = (random: Random, revision: number): TxnRequest => {
  for (;;) {
    const request = anyTxn(random, revision, 2);
    try {
      checkTxnOverlap(request);
      return request;
    } catch {
      // Overlapping: never reaches a store. Try another.
      continue;
    }
  }
};
