import type { Page } from 'playwright-core';

/** The kill, the election, the lease and the member on one screen, and from the last of them back to who began it. */
export const readLeaderStory = async (page: Page, killed: string): Promise<void> => {
  const row = (text: string) => page.getByRole('row').filter({ hasText: text }).first();
  await page.evaluate(() => (window.location.hash = '/timeline'));
  for (const text of [
    `Host ${killed} was killed`,
    `etcd member ${killed} is unreachable`,
    'became etcd leader in term',
    `kube-scheduler moved from ${killed}`,
  ])
    await row(text).waitFor();
  await row(`kube-scheduler moved from ${killed}`).getByRole('button').click();
  const selected = page.getByRole('region', { name: 'Selected entry' });
  await selected.getByRole('button', { name: new RegExp(`Host ${killed} was killed$`) }).waitFor();
  await selected.getByRole('button', { name: new RegExp(`pilothouse host kill ${killed}$`) }).waitFor();
};
