/** What screens do with a page. */
export const pause = (ms) => (page) => page.waitForTimeout(ms);

export const press = (page, name) =>
  page
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first()
    .click({ timeout: 15_000 });
