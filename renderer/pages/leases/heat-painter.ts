import type { HeartbeatLevel } from './heartbeats.ts';

/** Colours of the levels, read from the tokens of the theme. */
export interface HeatColours {
  readonly levels: Readonly<Record<1 | 2 | 3 | 4, string>>;
  readonly missed: string;
  readonly expired: string;
  readonly ground: string;
}

export const readColours = (element: Element): HeatColours => {
  const style = getComputedStyle(element);
  const of = (token: string): string => style.getPropertyValue(token).trim();
  return {
    levels: { 1: of('--heat-1'), 2: of('--heat-2'), 3: of('--heat-3'), 4: of('--heat-4') },
    missed: of('--warn'),
    expired: of('--error'),
    ground: of('--surface-sunken'),
  };
};

export interface HeatLayout {
  readonly width: number;
  readonly height: number;
  readonly rowHeight: number;
  /** Cells the full width stands for; fewer stand at the right, where time is now. */
  readonly cellsMax: number;
  /** Of the first row given, above the upper edge. */
  readonly offsetY: number;
}

const GAP = 2;
const ROW_PADDING = 2;

/** Where a cell stands; cells share the width so that their edges fall on whole pixels. */
export const cellRect = (
  { width, rowHeight, cellsMax, offsetY }: Omit<HeatLayout, 'height'>,
  row: number,
  place: number,
  count: number,
): { readonly x: number; readonly y: number; readonly width: number; readonly height: number } => {
  const slot = place + cellsMax - count;
  const left = Math.round((slot * width) / cellsMax);
  const right = Math.round(((slot + 1) * width) / cellsMax);
  return {
    x: left,
    y: row * rowHeight - offsetY + ROW_PADDING,
    width: Math.max(1, right - left - GAP),
    height: rowHeight - 2 * ROW_PADDING,
  };
};

const hatch = (
  canvas: CanvasRenderingContext2D,
  { x, y, width, height }: ReturnType<typeof cellRect>,
  colour: string,
): void => {
  canvas.save();
  canvas.beginPath();
  canvas.rect(x, y, width, height);
  canvas.clip();
  canvas.strokeStyle = colour;
  canvas.lineWidth = 1.5;
  canvas.beginPath();
  for (let from = x - height; from < x + width; from += 4) {
    canvas.moveTo(from, y + height);
    canvas.lineTo(from + height, y);
  }
  canvas.stroke();
  canvas.lineWidth = 2;
  canvas.strokeRect(x, y, width, height);
  canvas.restore();
};

/** Paints the rows in view: one canvas, however many nodes there are. */
export const paintHeat = (
  canvas: CanvasRenderingContext2D,
  rows: readonly (readonly HeartbeatLevel[])[],
  layout: HeatLayout,
  colours: HeatColours,
): void => {
  canvas.clearRect(0, 0, layout.width, layout.height);
  rows.forEach((cells, row) =>
    cells.forEach((level, place) => {
      const rect = cellRect(layout, row, place, cells.length);
      if (typeof level === 'number') {
        canvas.fillStyle = colours.levels[level];
        canvas.fillRect(rect.x, rect.y, rect.width, rect.height);
        return;
      }
      canvas.fillStyle = colours.ground;
      canvas.fillRect(rect.x, rect.y, rect.width, rect.height);
      hatch(canvas, rect, level === 'missed' ? colours.missed : colours.expired);
    }),
  );
};
