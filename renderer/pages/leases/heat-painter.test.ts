import { expect, test } from 'vitest';
import { cellRect } from './heat-painter.ts';

const layout = { width: 100, rowHeight: 22, cellsMax: 10, offsetY: 5 };

test('few cells are at the right, where now is', () => {
  expect(cellRect(layout, 0, 0, 3)).toEqual({ x: 70, y: -3, width: 8, height: 18 });
});

test('a row below the first is placed lower, moved by the scroll position', () => {
  expect(cellRect(layout, 2, 9, 10)).toMatchObject({ x: 90, y: 41 });
});

test('cells keep a width however many there are', () => {
  expect(cellRect({ ...layout, cellsMax: 100 }, 0, 0, 100).width).toBe(1);
});
