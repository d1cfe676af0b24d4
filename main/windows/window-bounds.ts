import * as v from 'valibot';

const coordinate = v.pipe(v.number(), v.integer(), v.minValue(-100_000), v.maxValue(100_000));
const rectangle = v.object({ x: coordinate, y: coordinate, width: coordinate, height: coordinate });
export type Rectangle = v.InferOutput<typeof rectangle>;

/** Where a window was. `bounds` is its normal place, also while it is maximised. */
export const windowState = v.object({ bounds: v.nullable(rectangle), maximised: v.boolean() });
export type WindowState = v.InferOutput<typeof windowState>;

export const windowStateDefault: WindowState = { bounds: null, maximised: false };

export const WINDOW_WIDTH_MIN = 960;
export const WINDOW_HEIGHT_MIN = 600;
const DEFAULT_WIDTH = 1440;
const DEFAULT_HEIGHT = 900;
/** So much of the top edge must be on a display for a person to get hold of the window. */
const GRIP_WIDTH_MIN = 120;
const GRIP_HEIGHT = 40;
const CASCADE_STEP = 28;

const overlap = (fromA: number, lengthA: number, fromB: number, lengthB: number): number =>
  Math.min(fromA + lengthA, fromB + lengthB) - Math.max(fromA, fromB);

const canBeGrabbed = (bounds: Rectangle, area: Rectangle): boolean =>
  overlap(bounds.x, bounds.width, area.x, area.width) >= GRIP_WIDTH_MIN &&
  overlap(bounds.y, GRIP_HEIGHT, area.y, area.height) >= GRIP_HEIGHT;

const centred = (area: Rectangle): Rectangle => {
  const width = Math.min(DEFAULT_WIDTH, area.width);
  const height = Math.min(DEFAULT_HEIGHT, area.height);
  return {
    x: area.x + Math.floor((area.width - width) / 2),
    y: area.y + Math.floor((area.height - height) / 2),
    width,
    height,
  };
};

/** Where to open a window: where it was, if a display still shows that place, else centred on the primary one. */
export const placeWindow = (
  saved: WindowState,
  workAreas: readonly Rectangle[],
  primary: Rectangle,
): Rectangle => {
  const { bounds } = saved;
  if (bounds === null) return centred(primary);
  const sane = {
    ...bounds,
    width: Math.max(bounds.width, WINDOW_WIDTH_MIN),
    height: Math.max(bounds.height, WINDOW_HEIGHT_MIN),
  };
  return workAreas.some((area) => canBeGrabbed(sane, area)) ? sane : centred(primary);
};

/** A second window opens a little below and right of the first, so that both are seen. */
export const cascade = (from: Rectangle): Rectangle => ({
  ...from,
  x: from.x + CASCADE_STEP,
  y: from.y + CASCADE_STEP,
});
