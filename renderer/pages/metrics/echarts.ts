import { LineChart } from 'echarts/charts';
import { AxisPointerComponent, GridComponent, MarkLineComponent } from 'echarts/components';
import { connect, init, use, type EChartsType } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';

use([LineChart, GridComponent, AxisPointerComponent, MarkLineComponent, CanvasRenderer]);

/**
 * A chart in an element of its own. The page's policy takes no text as HTML, and the library empties its element that
 * way: the element does the same without. Charts of one group share the cursor.
 */
export const drawIn = (holder: HTMLElement, group: string): EChartsType => {
  Object.defineProperty(holder, 'innerHTML', {
    configurable: true,
    get: () => '',
    set: () => holder.replaceChildren(),
  });
  const chart = init(holder);
  chart.group = group;
  connect(group);
  return chart;
};
export type { EChartsType } from 'echarts/core';
