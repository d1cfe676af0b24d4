import { expect, test } from 'vitest';
import { ReasonError } from '../../../base/errors.ts';
import { memoryFile } from '../random-access.ts';
import { openSnapshot } from '../snapshot-file.ts';
import { snapshotStatus } from '../status.ts';
import { encodeRevisionKey } from '../schema.ts';
import { checkBolt } from './check.ts';
import { PAGE_BYTES } from './format.ts';
import { parseMeta, writeMetaPage } from './meta.ts';
import { buildBolt, collect, entry } from './testing.ts';
import type { BoltEntry } from './writer.ts';

const MUTANTS = 3_000;
/** Seconds on a quiet machine; a busy one must not fail it. */
const LIMIT_MS = 120_000;
const SEED = 0x5eed;

/** Park and Miller's generator: enough to pick bytes, and the same on every machine. */
const seeded = (seed: number) => {
  let state = seed;
  return (bound: number): number => {
    state = (state * 48271) % 0x7fffffff;
    return state % bound;
  };
};

const original = async (): Promise<Buffer> => {
  const revisions: BoltEntry[] = Array.from({ length: 400 }, (_, i) => ({
    bucket: 'key',
    key: encodeRevisionKey({ main: i + 2, sub: 0 }),
    value: Buffer.concat([Buffer.from([0x0a, 2, 0x6b, i & 0x7f, 0x2a, 40]), Buffer.alloc(40, i)]),
  }));
  const large = { bucket: 'auth', key: Buffer.from('large'), value: Buffer.alloc(9000, 1) };
  return buildBolt([entry('alarm', 'a', 'b'), large, ...revisions, entry('meta', 'm', 'n')], ['lease']);
};

/** Structure is what breaks readers, so most hits go to headers and element tables; some recompute the checksum. */
const mutate = (file: Buffer, pick: (bound: number) => number): Buffer => {
  const mutant = Buffer.from(file);
  const pages = file.length / PAGE_BYTES;
  for (let hits = 1 + pick(4); hits > 0; hits -= 1) {
    const at = pick(pages) * PAGE_BYTES + (pick(3) === 0 ? pick(PAGE_BYTES) : pick(200));
    const kind = pick(4);
    if (kind === 0) mutant[at] = pick(256);
    else if (kind === 1) mutant[at] = mutant[at]! ^ (1 << pick(8));
    else if (kind === 2)
      mutant.copy(mutant, pick(pages) * PAGE_BYTES, at, Math.min(at + pick(64), mutant.length));
    else mutant.fill(pick(2) * 255, at, at + pick(16));
  }
  if (pick(4) === 0) {
    const meta = parseMeta(file);
    if (typeof meta !== 'string') {
      const field = (['rootPage', 'freelistPage', 'pageCount'] as const)[pick(3)]!;
      writeMetaPage(mutant, 0, { ...meta, [field]: pick(pages + 3), txid: 9 });
    }
  }
  return pick(20) === 0 ? mutant.subarray(0, pick(mutant.length)) : mutant;
};

const outcomeOf = async (work: () => Promise<unknown>): Promise<'read' | 'refused'> => {
  try {
    await work();
    return 'read';
  } catch (error) {
    if (error instanceof ReasonError) return 'refused';
    throw error;
  }
};

test(
  `${MUTANTS} damaged databases are read or refused, never a crash or a hang`,
  async () => {
    const file = await original();
    const pick = seeded(SEED);
    const outcomes = { read: 0, refused: 0 };
    for (let i = 0; i < MUTANTS; i += 1) {
      const mutant = mutate(file, pick);
      const open = () => openSnapshot(memoryFile(mutant));
      const checked = await outcomeOf(async () => checkBolt((await open()).bolt));
      await outcomeOf(async () => snapshotStatus(await open()));
      await outcomeOf(async () => {
        const entries = await collect((await open()).all());
        // Each of the ten thousand or so bytes can at most be one key.
        expect(entries.length).toBeLessThan(mutant.length);
      });
      await outcomeOf(async () => (await open()).get('key', encodeRevisionKey({ main: 100, sub: 0 })));
      outcomes[checked] += 1;
    }
    expect(outcomes.read).toBeGreaterThan(MUTANTS / 20);
    expect(outcomes.refused).toBeGreaterThan(MUTANTS / 4);
  },
  LIMIT_MS,
);
