import type { Locator, Page } from 'playwright-core';
import { until } from '../support/until.ts';

export const DEPLOYMENT_PATH = '/apis/apps/v1/namespaces/default/deployments/web';

/** What these steps use: a console in front of a cluster in which Deployment and Service `web` run with two pods. */
export interface Workbench {
  readonly page: Page;
  go(path: string): Promise<void>;
  drawer(): Locator;
  /** A section of the drawer. */
  part(title: string): Locator;
  apply(object: Record<string, unknown>): Promise<unknown>;
  request(method: 'GET' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<unknown>;
  runningPod(): Promise<string>;
}

/** With key presses, in place of what the field holds. */
export const typeInto = async (field: Locator, text: string): Promise<void> => {
  await field.click();
  await field.press('Control+a');
  await field.pressSequentially(text);
};

/** A misspelled selector is explained with its repair; the picture is read by keyboard and follows the repair. */
export const explainSelector = async ({ page, go, drawer, part, request }: Workbench): Promise<void> => {
  const servicePath = '/api/v1/namespaces/default/services/web';
  await request('PATCH', servicePath, { spec: { selector: { app: 'wbe' } } });
  await go('/graph?namespace=default&kind=Service&name=web');
  const reason = page.locator('[data-reason="graph.selectorMisspelled"]');
  await reason.getByText('kubectl -n default set selector service/web app=web').waitFor();
  await page.locator('[data-node="Pod/default/app=wbe"]').click();
  await page.keyboard.press('ArrowLeft');
  await drawer().getByRole('heading', { name: 'web', exact: true }).waitFor();
  await request('PATCH', servicePath, { spec: { selector: { app: 'web' } } });
  await reason.waitFor({ state: 'detached' });
  await page.locator('[data-node^="Pod/default/web-"]').first().waitFor();
  await page.locator('[data-node="Service/default/web"]').press('Enter');
  await part('Service').getByText('app=web').waitFor();
};

/** A quota keeps pods from being created: the controller that fails says so, with the object. */
export const findFailingController = async ({ go, drawer, apply, request }: Workbench): Promise<void> => {
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'tight' },
    spec: { hard: { pods: '2' } },
  };
  await apply(quota);
  await until('the quota to count', async () => {
    const { status } = (await request('GET', '/api/v1/namespaces/default/resourcequotas/tight')) as {
      status?: { used?: { pods?: string } };
    };
    return status?.used?.pods === '2';
  });
  await request('PATCH', DEPLOYMENT_PATH, { spec: { replicas: 3 } });
  await go('/controllers?open=replicaset-controller');
  await drawer()
    .locator('[data-failing]')
    .getByText(/exceeded quota: tight/)
    .waitFor();
  await drawer()
    .locator('[data-failing]')
    .getByRole('link', { name: /^default\/web-/ })
    .waitFor();
  await request('PATCH', DEPLOYMENT_PATH, { spec: { replicas: 2 } });
  await request('DELETE', '/api/v1/namespaces/default/resourcequotas/tight');
};

/** A budget refuses an eviction and is named; what was scaled is taken back from the history. */
export const evictAndUndo = async ({
  page,
  go,
  drawer,
  apply,
  request,
  runningPod,
}: Workbench): Promise<void> => {
  await apply({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web' },
    spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
  });
  await until('the budget to count', async () => {
    const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/web';
    const { status } = (await request('GET', path)) as { status?: { currentHealthy?: number } };
    return status?.currentHealthy === 2;
  });
  const pod = await runningPod();
  await go(`/workloads?kind=pods&filter=${pod}`);
  await page.getByRole('row').filter({ hasText: pod }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Evict' }).click();
  const question = page.getByRole('dialog');
  await question.getByRole('button', { name: /^Evict/ }).click();
  await question.getByText(/The disruption budget web needs 2 healthy pods and has 2 currently/).waitFor();
  await page.keyboard.press('Escape');

  await go('/workloads?kind=deployments.apps&open=default/web');
  await drawer().getByRole('button', { name: 'Scale' }).click();
  await typeInto(question.getByRole('textbox'), '3');
  await question.getByRole('button', { name: 'Scale Deployment web' }).click();
  await question.waitFor({ state: 'detached' });
  await until('the third pod', async () => {
    const { status } = (await request('GET', DEPLOYMENT_PATH)) as { status?: { readyReplicas?: number } };
    return status?.readyReplicas === 3;
  });
  await go('/actions');
  const done = page.getByRole('listitem').filter({ hasText: 'Deployment web scaled' });
  await done.getByRole('button', { name: 'Undo' }).click();
  await done.getByText('Undone').waitFor();
  await until('the earlier number of replicas', async () => {
    const { spec } = (await request('GET', DEPLOYMENT_PATH)) as { spec: { replicas: number } };
    return spec.replicas === 2;
  });
};
