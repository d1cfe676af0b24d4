import { DIALOGS } from './dialogs.mjs';
import { PAGES } from './pages.mjs';
import { STAGES } from './stages.mjs';
import { STATES } from './states.mjs';

/**
 * Each takes the page to one state, whose name becomes a file name. In the order of their stages, so that a stage is
 * entered once.
 */
export const SCREENS = [undefined, ...Object.keys(STAGES)].flatMap((stage) =>
  [...PAGES, ...DIALOGS, ...STATES].filter((screen) => screen.stage === stage),
);
