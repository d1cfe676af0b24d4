import type { ChartUnit } from '../../../core/contract/index.ts';
import {
  formatBytes,
  formatCount,
  formatMilliseconds,
  formatPercent,
  formatShort,
} from '../../locales/format.ts';

const MILLI = 1000;

/** A value with its unit, as it stands in a sentence. */
export const formatValue = (unit: ChartUnit, value: number): string => {
  switch (unit) {
    case 'seconds':
      return value < 1 ? formatMilliseconds(value * MILLI) : `${formatShort(value)} s`;
    case 'ratio':
      return value === 0 ? '0 %' : formatPercent(value * 100);
    case 'perSecond':
      return `${formatShort(value)} /s`;
    case 'bytes':
      return formatBytes(value);
    case 'cores':
      return value < 1 ? `${formatCount(value * MILLI)}m` : formatShort(value);
    case 'count':
      return Number.isInteger(value) ? formatCount(value) : formatShort(value);
  }
};

/** On an axis and of a limit: round numbers without their zeros. */
export const formatTick = (unit: ChartUnit, value: number): string =>
  value === 0 ? '0' : formatValue(unit, value).replace(/,0(?= |$)|\.0(?= |$)/, '');

const SMALLEST: Readonly<Record<ChartUnit, number>> = {
  seconds: 0.001,
  ratio: 0.01,
  perSecond: 1,
  bytes: 1024 * 1024,
  cores: 0.01,
  count: 2,
};

/** The middle of the scale is written too: it must be round as well. */
const HALVABLE = [1, 2, 4, 6, 8, 10];
const ROUNDING = 1e-9;

/** The top of the scale. Bytes go by powers of two, so that half of it is a round number too. */
export const ceilingOf = (unit: ChartUnit, highest: number): number => {
  const value = Math.max(highest, SMALLEST[unit]);
  if (unit === 'bytes') {
    const power = 2 ** Math.floor(Math.log2(value));
    return [1, 1.5, 2].map((factor) => factor * power).find((candidate) => candidate >= value) ?? 2 * power;
  }
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = HALVABLE.find((candidate) => candidate * power >= value * (1 - ROUNDING)) ?? 10;
  const ceiling = unit === 'count' ? Math.max(2, factor * power) : factor * power;
  return unit === 'ratio' ? Math.min(1, ceiling) : ceiling;
};
