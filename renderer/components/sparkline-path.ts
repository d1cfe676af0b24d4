/** A missing value is a gap in the line, never a zero. */
export type SampleValue = number | undefined;

export interface PlotArea {
  readonly width: number;
  readonly height: number;
  /** The value at the top edge; the bottom is always zero. */
  readonly valueMax: number;
  /** Samples the full width stands for; fewer are drawn at the right, where time is now. */
  readonly samplesMax: number;
}

export interface PlotPaths {
  readonly line: string;
  readonly area: string;
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** SVG paths of a series, one piece between two gaps. */
export const plotPaths = (values: readonly SampleValue[], area: PlotArea): PlotPaths => {
  const shown = values.slice(-area.samplesMax);
  const step = area.width / Math.max(1, area.samplesMax - 1);
  const xOf = (index: number): number => round(area.width - (shown.length - 1 - index) * step);
  const yOf = (value: number): number =>
    round(
      area.height - (area.valueMax > 0 ? Math.min(1, Math.max(0, value / area.valueMax)) : 0) * area.height,
    );

  let line = '';
  let filled = '';
  let pieceStart: number | undefined;
  shown.forEach((value, index) => {
    if (value === undefined) return;
    const isStart = shown[index - 1] === undefined;
    if (isStart) pieceStart = xOf(index);
    const point = `${xOf(index)} ${yOf(value)}`;
    line += `${isStart ? 'M' : 'L'}${point}`;
    filled += `${isStart ? `M${xOf(index)} ${area.height}L` : 'L'}${point}`;
    if (shown[index + 1] === undefined && pieceStart !== undefined)
      filled += `L${xOf(index)} ${area.height}Z`;
  });
  return { line, area: filled };
};

/** A round number at or above the largest value, so that the scale does not move with every sample. */
export const niceCeiling = (value: number): number => {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 2.5, 5, 10].find((candidate) => candidate * power >= value) ?? 10;
  return factor * power;
};
