import { expect, test } from 'vitest';
import { seededRandom } from '../../../base/random.ts';
import { IntervalMap } from './interval-map.ts';

test('finds exactly the intervals around a key, through any adding and removing', () => {
  for (let seed = 1; seed <= 10; seed += 1) {
    const random = seededRandom(seed);
    const map = new IntervalMap<string>();
    const known = new Map<string, readonly [string, string]>();
    const letter = (): string => String.fromCharCode(97 + random.below(12));
    for (let step = 0; step < 300; step += 1) {
      const start = letter() + letter();
      const end = random.below(5) === 0 ? '' : letter() + letter();
      const name = `${start}-${end}`;
      if (known.has(name)) {
        map.remove(start, end);
        known.delete(name);
      } else if (end === '' || start < end) {
        map.add(start, end, name);
        known.set(name, [start, end]);
      }
      const key = letter() + letter();
      const found: string[] = [];
      map.stab(key, (value) => found.push(value));
      const expected = [...known].filter(([, [from, to]]) => key >= from && (to === '' || key < to));
      expect(found.sort(), `seed ${seed}`).toEqual(expected.map(([value]) => value).sort());
      for (const [value, [from, to]] of known)
        if (map.get(from, to) !== value) throw new Error(`lost ${value}`);
    }
  }
});
