import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeadlineHeap } from './deadline-heap.ts';

test('after any adds, moves and removals the heap gives items in order of due time', () => {
  const step = fc.record({ item: fc.nat(20), dueMs: fc.option(fc.nat(50), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new DeadlineHeap<number>();
      const model = new Map<number, number>();
      for (const { item, dueMs } of steps) {
        if (dueMs === undefined) {
          heap.delete(item);
          model.delete(item);
        } else {
          heap.set(item, dueMs);
          model.set(item, dueMs);
        }
        expect(heap.first?.dueMs).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
      }
      const drained: number[] = [];
      for (let first = heap.first; first !== undefined; first = heap.first) {
        expect(model.get(first.item)).toBe(first.dueMs);
        drained.push(first.dueMs);
        heap.delete(first.item);
      }
      expect(drained).toEqual([...model.values()].sort((a, b) => a - b));
    }),
  );
});
