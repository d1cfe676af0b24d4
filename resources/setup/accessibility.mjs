/** What axe finds against WCAG 2.2 AA in the page as it stands. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** What a change of theme can break. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];
const NODES_TOLD_MAX = 4;

/** One line for each of the rules that is broken, with the first places; empty when the page is clean. */
export const accessibilityProblems = async (page, rules) => {
  const runOnly = rules ? { type: 'rule', values: rules } : TAGS;
  // By the driver, not by a script element: the console's content policy allows none but its own.
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(SOURCE);
  const { violations } = await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] })`,
  );
  return violations.map(({ id, help, nodes }) => {
    const places = nodes.slice(0, NODES_TOLD_MAX).map(({ target, any, html }) => {
      const why = any[0]?.message ? ` (${any[0].message})` : '';
      return `${target.join(' ')}${why} ${html.slice(0, 160)}`;
    });
    return `${id}: ${help}; ${nodes.length} places\n    ${places.join('\n    ')}`;
  });
};
