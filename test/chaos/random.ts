/** Mulberry32: small, and the same on every machine. */
export const seeded = (seed: number) => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (min: number, max: number): number => Math.round(min + next() * (max - min)),
    pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!,
  };
};

export type Seeded = ReturnType<typeof seeded>;
