import { expect, test } from 'vitest';
import { placeWindow } from './window-bounds.ts';

const laptop = { x: 0, y: 24, width: 1600, height: 976 };
const monitor = { x: 1600, y: 0, width: 2560, height: 1440 };
const place = (
  bounds: { x: number; y: number; width: number; height: number } | null,
  areas = [laptop, monitor],
) => placeWindow({ bounds, maximised: false }, areas, laptop);

test('a window opens where it was', () => {
  const bounds = { x: 1800, y: 100, width: 1200, height: 800 };
  expect(place(bounds)).toEqual(bounds);
});

test('a window of a display that is gone is centred on the primary one', () => {
  expect(place({ x: 1800, y: 100, width: 1200, height: 800 }, [laptop])).toEqual({
    x: 80,
    y: 62,
    width: 1440,
    height: 900,
  });
});

test('a window whose title lies above every display is brought back', () => {
  expect(place({ x: 100, y: -300, width: 1200, height: 800 })).toEqual(place(null));
});

test('a window is never smaller than the shell', () => {
  expect(place({ x: 10, y: 30, width: 20, height: -5 })).toEqual({ x: 10, y: 30, width: 960, height: 600 });
});
