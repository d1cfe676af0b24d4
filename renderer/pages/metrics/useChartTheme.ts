import { computed, type ComputedRef } from 'vue';
import { useThemeStore } from '../../stores/theme.ts';
import type { ChartTheme } from './chart-option.ts';

const COLOURS = [1, 2, 3, 4, 5, 6, 7, 8] as const;

/** The tokens as a canvas needs them, again after every change of the theme. */
export const useChartTheme = (): ComputedRef<ChartTheme> => {
  const theme = useThemeStore();
  return computed(() => {
    void theme.resolved;
    const style = getComputedStyle(document.documentElement);
    const token = (name: string): string => style.getPropertyValue(name).trim();
    return {
      series: COLOURS.map((place) => token(`--cat-${place}`)),
      grid: token('--chart-grid'),
      axis: token('--chart-axis'),
      text: token('--text-faint'),
      threshold: token('--error'),
      stale: token('--idle'),
      font: token('--font-ui'),
      fill: Number(token('--chart-fill')) || 0,
    };
  });
};
