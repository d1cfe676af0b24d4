import { shallowRef, type ShallowRef } from 'vue';
import type { InputOf, ItemOf, StreamName } from '../../core/contract/index.ts';
import { useStream, type StreamHealth } from './useStream.ts';

/** A stream of which only the newest item counts, closed while no one looks. */
export const useNewest = <N extends StreamName>(
  name: N,
  input: InputOf<N>,
): {
  readonly value: Readonly<ShallowRef<ItemOf<N> | undefined>>;
  readonly health: Readonly<ShallowRef<StreamHealth>>;
  reopen(): void;
} => {
  const value = shallowRef<ItemOf<N>>();
  const { health, reopen } = useStream(
    name,
    input,
    (items) => {
      const newest = items.at(-1);
      if (newest !== undefined) value.value = newest;
    },
    { pauseWhenHidden: true },
  );
  return { value, health, reopen };
};
