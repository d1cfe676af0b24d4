import { expect, test } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { KeyIndex } from './key-index.ts';

test('counts and walks agree with a plain list over thousands of keys, now and in the past', () => {
  for (let seed = 1; seed <= 4; seed += 1) {
    const random = seededRandom(seed);
    const index = new KeyIndex();
    const lives = new Map<string, [number, boolean][]>();
    const name = (): string => `k${String(random.below(4000)).padStart(4, '0')}`;
    const isLiveAt = (key: string, at: number): boolean =>
      lives.get(key)?.findLast(([main]) => main <= at)?.[1] ?? false;
    for (let main = 2; main < 9000; main += 1) {
      // Growing keys first, then keys all over the place: both ways of cutting blocks.
      const key = main < 1500 ? `a${String(main).padStart(4, '0')}` : name();
      if (index.get(key)?.live && random.below(2) === 0) index.tombstone(key, main, 0);
      else index.put(key, main, 0);
      const history = lives.get(key) ?? [];
      history.push([main, index.get(key)?.live === true]);
      lives.set(key, history);
      if (main % 500 !== 0) continue;
      const [start, other] = [name(), name()];
      for (const end of ['', other]) {
        const keys = [...lives.keys()].filter((k) => k >= start && (end === '' || k < end)).sort();
        const seen: string[] = [];
        index.walk({ start, end }, (revisions) => seen.push(revisions.key) > 0);
        expect(seen, `seed ${seed}`).toEqual(start < end || end === '' ? keys : []);
        for (const at of [main, main - 1, random.below(main)])
          expect(index.count({ start, end }, at), `seed ${seed}, at ${at}`).toBe(
            keys.filter((k) => isLiveAt(k, at)).length,
          );
      }
    }
  }
});
