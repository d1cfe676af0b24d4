import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openConsolePlane, PLANE_CONTEXT, type ConsolePlane } from '../support/console-plane.ts';
import { holdDeletes, keepHalfMinute } from '../support/page-hooks.ts';
import { until } from '../support/until.ts';
import { DEFINITIONS, editToy, toy, TOY_DEFINITION, TOY_POLICIES, TOYS } from './custom-kind-steps.ts';

// What a person does with lists and objects, by keys and clicks, on one server.

const OCTET = 13;
const MANY = 120;
/** As `useBulk` limits them. */
const BULK_PARALLEL_MAX = 8;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

let plane: ConsolePlane;
beforeAll(async () => {
  plane = await openConsolePlane(OCTET);
  await plane.unlock();
});
// Nothing that one test left open stands in the way of the next.
afterEach(async () => {
  await plane?.page.reload();
  // The router has to be there before the next test changes the address.
  await plane?.page.getByRole('navigation', { name: 'Sections' }).waitFor();
});
afterAll(() => plane?.close());

const row = (name: string): Locator => plane.page.getByRole('row').filter({ hasText: name });
const dialog = (): Locator => plane.page.getByRole('dialog');
const names = async (path: string, prefix: string): Promise<string[]> => {
  const { items } = await plane.client.json<{ items: { metadata: { name: string } }[] }>({
    method: 'GET',
    path,
  });
  return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith(prefix));
};
const configMap = (name: string): Promise<unknown> =>
  plane.make(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

test('a list is worked by keys: J and K, Shift, Ctrl+A, Delete, F9, Esc, and from the filter to the list and back', async () => {
  const { page, go } = plane;
  for (const name of ['key-a', 'key-b', 'key-c', 'key-d']) await configMap(name);
  await go('/config?kind=configmaps');
  await row('key-d').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('key-');
  await page.keyboard.press('Enter');
  const grid = page.getByRole('grid');
  const active = (): Promise<string | null> => grid.getAttribute('aria-activedescendant');
  const selected = page.locator('[role=row][aria-selected=true]');
  for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key);
  await until('the second row', async () => (await active())?.endsWith('key-b'));
  await page.keyboard.press('Enter');
  const details = page.getByRole('complementary', { name: 'ConfigMap key-b' });
  await details.waitFor();
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await details.getByRole('tab', { name: 'YAML' }).focus();
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'detached' });
  await page.keyboard.press('y');
  await details.getByRole('tab', { name: 'YAML', selected: true }).waitFor();
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'detached' });
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+J');
  await until('three rows', async () => (await selected.count()) === 3);
  await page.keyboard.press('Escape');
  await until('no row', async () => (await selected.count()) === 0);
  await page.keyboard.press('Control+a');
  await until('every row of the filter', async () => (await selected.count()) === 4);
  await page.keyboard.press('/');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('key-');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Delete');
  await dialog().getByText('default/key-c', { exact: true }).waitFor();
  await dialog().getByRole('textbox').focus();
  await page.keyboard.type('4');
  await page.keyboard.press('Enter');
  await until('all four to be gone', async () => (await names(CONFIG_MAPS, 'key-')).length === 0);
  await dialog().waitFor({ state: 'detached' });
  // The message offers it, and shows the key.
  await page.locator('.toast').getByText('F9', { exact: true }).waitFor();
  await page.keyboard.press('F9');
  await until('all four to be back', async () => (await names(CONFIG_MAPS, 'key-')).length === 4);
  await page.getByText('4 changes undone').first().waitFor();
});

test('many are deleted with the question in view, progress and cancel, and nothing half selected afterwards', async () => {
  const { page, go } = plane;
  await Promise.all(Array.from({ length: MANY }, (_, index) => configMap(`bulk-${index}`)));
  await go('/config?kind=configmaps');
  await page.locator('main input[data-filter]').click();
  await page.keyboard.type('bulk-');
  await row('bulk-0').first().waitFor();
  // Names are in the order of people.
  const first = async (): Promise<string[]> =>
    (await page.getByRole('rowheader').allTextContents()).slice(0, 12).map((name) => name.trim());
  await expect.poll(first).toEqual(Array.from({ length: 12 }, (_, index) => `bulk-${index}`));
  await page.getByRole('grid').focus();
  await page.keyboard.press('Control+a');
  await page
    .getByRole('toolbar')
    .getByRole('button', { name: `Delete ${MANY}` })
    .click();
  const title = dialog().getByRole('heading');
  const confirm = dialog().getByRole('textbox');
  const { height = 0 } = page.viewportSize() ?? {};
  for (const part of [title, confirm, dialog().getByRole('button', { name: /^Delete/ })]) {
    const box = await part.boundingBox();
    expect(box && box.y >= 0 && box.y + box.height <= height).toBe(true);
  }
  await confirm.focus();
  await page.keyboard.type(String(MANY));
  const release = await holdDeletes(page, 20);
  await page.keyboard.press('Enter');
  await dialog().getByText(`20 of ${MANY} done, 0 failed`).waitFor();
  await dialog().getByRole('progressbar').waitFor();
  await dialog().getByRole('button', { name: 'Stop', exact: true }).click();
  await release();
  // Requests that were sent are finished, and no other is.
  const sent = 20 + BULK_PARALLEL_MAX;
  await dialog().getByText(`${sent} of ${MANY} done, 0 failed`).waitFor();
  await dialog().getByRole('button', { name: 'Cancel', exact: true }).waitFor();
  expect((await names(CONFIG_MAPS, 'bulk-')).length).toBe(MANY - sent);
  await dialog()
    .getByRole('button', { name: /^Delete/ })
    .click();
  await until('all to be gone', async () => (await names(CONFIG_MAPS, 'bulk-')).length === 0);
  await dialog().waitFor({ state: 'detached' });
  await page.locator('main input[data-filter]').click();
  await page.keyboard.press('Escape');
  const all = page.getByRole('columnheader').getByRole('checkbox');
  await until('an empty head', () =>
    all.evaluate((box: HTMLInputElement) => !box.indeterminate && !box.checked),
  );
});

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const deployment = (name: string): Promise<unknown> =>
  plane.make(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'web', image: 'nginx:1.29' }] },
      },
    },
  });
interface Deployed {
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly metadata: { readonly annotations?: Record<string, string> } };
  };
}
const deployed = async (): Promise<Deployed[]> => {
  const { items } = await plane.client.json<{ items: Deployed[] }>({ method: 'GET', path: DEPLOYMENTS });
  return items.filter(({ metadata }) => metadata.name.startsWith('fleet-'));
};

test('selected workloads are scaled, restarted and labelled together', async () => {
  const { page, go } = plane;
  for (const name of ['fleet-a', 'fleet-b', 'fleet-c']) await deployment(name);
  await go('/workloads?kind=deployments.apps');
  await row('fleet-c').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('fleet-');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+a');
  const toolbar = page.getByRole('toolbar');
  const answer = async (button: string, typed?: string): Promise<void> => {
    await toolbar.getByRole('button', { name: button, exact: true }).click();
    await dialog().getByText('default/fleet-c', { exact: true }).waitFor();
    if (typed !== undefined) {
      await dialog().getByRole('textbox').focus();
      await page.keyboard.press('Control+a');
      await page.keyboard.type(typed);
      await page.keyboard.press('Enter');
    } else
      await dialog()
        .getByRole('button', { name: /^Restart/ })
        .click();
    await dialog().waitFor({ state: 'detached' });
  };
  await answer('Scale', '3');
  expect((await deployed()).map(({ spec }) => spec.replicas)).toEqual([3, 3, 3]);
  await answer('Label', 'tier=frontend');
  await answer('Restart');
  const restarted = 'kubectl.kubernetes.io/restartedAt';
  expect(
    (await deployed()).map(({ metadata, spec }) => [
      metadata.labels?.['tier'],
      spec.template.metadata.annotations?.[restarted] !== undefined,
    ]),
  ).toEqual([
    ['frontend', true],
    ['frontend', true],
    ['frontend', true],
  ]);
  // An invalid value is told at its field, and nothing is sent.
  await toolbar.getByRole('button', { name: 'Label', exact: true }).click();
  await dialog().getByRole('textbox').focus();
  await page.keyboard.type('tier = front end');
  await page.keyboard.press('Enter');
  await dialog().getByText('key=value').first().waitFor();
  await page.keyboard.press('Escape');
});

test('a row has a menu, by the right button and by a key', async () => {
  const { page, go } = plane;
  await configMap('menu-a');
  await go('/config?kind=configmaps');
  await row('menu-a').click({ button: 'right' });
  const menu = page.getByRole('menu', { name: 'Actions for menu-a' });
  await menu.getByRole('menuitem', { name: 'Open details' }).waitFor();
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
  // Chosen with the mouse, "Delete" asks; the question keeps the focus, and the list gets it back.
  await row('menu-a').click({ button: 'right' });
  await menu.getByRole('menuitem', { name: /^Delete/ }).click();
  const title = dialog().getByRole('heading', { name: 'Delete ConfigMap menu-a?' });
  await title.waitFor();
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
  const hasFocus = (part: Locator): Promise<boolean> =>
    part.evaluate((element) => element.contains(document.activeElement));
  await until('the focus in the list', () => hasFocus(page.getByRole('grid')));
  // The same with keys alone, to the end.
  await page.keyboard.press('Shift+F10');
  await until('the focus in the menu', () => hasFocus(menu));
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await title.waitFor();
  await until('the focus in the field', () => hasFocus(dialog().getByRole('textbox')));
  await page.keyboard.type('menu-a');
  await page.keyboard.press('Enter');
  await until('it to be gone', async () => (await names(CONFIG_MAPS, 'menu-a')).length === 0);
});

test('the help lists the keys of the page, and a colon jumps to a kind', async () => {
  const { page, go } = plane;
  await go('/config?kind=configmaps');
  await page.getByRole('grid').focus();
  await page.keyboard.press('?');
  await dialog().getByRole('heading', { name: 'On this page: Config' }).waitFor();
  await dialog().getByText('Open the context menu').waitFor();
  await dialog().getByText('Undo, while a message offers it').waitFor();
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
  await page.getByRole('grid').focus();
  await page.keyboard.type('gl');
  await until('the leases', () => page.url().endsWith('#/leases'));
  await page.keyboard.press(':');
  await page.keyboard.type('deploy');
  await page.keyboard.press('Enter');
  await until('the Deployments', () => page.url().includes('kind=deployments.apps'));
  await go('/editor');
  await page.getByRole('heading', { name: 'Editor' }).waitFor();
  await page.keyboard.press('?');
  await dialog().getByText('Undo the last apply').waitFor();
});

test('a user of one namespace finds their kubeconfig and gets a working console; lists span clusters', async () => {
  const { page, go, make, addUser } = plane;
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/team';
  await make('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  await make(`${rbac}/roles`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'dev' },
    rules: [{ apiGroups: [''], resources: ['configmaps', 'pods'], verbs: ['get', 'list', 'watch'] }],
  });
  await make(`${rbac}/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'dev' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'dev' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dev' }],
  });
  const body = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  await make('/api/v1/namespaces/team/configmaps', body('scoped-team'));
  await make(CONFIG_MAPS, body('scoped-default'));
  const path = addUser('dev', 'team');

  await go('/clusters');
  await page.getByRole('button', { name: `Open ${path}` }).click();
  await page.getByRole('button', { name: 'Use dev@test', exact: true }).click();
  await go('/config?kind=configmaps');
  await row('scoped-team').waitFor();
  expect(await row('scoped-default').count()).toBe(0);
  await page.locator('[data-namespaces]').getByText('team', { exact: true }).waitFor();
  // What the user may not list is said with the way to check it.
  await go('/config?kind=secrets');
  await page.getByText(/^kubectl .*--context dev@test .*auth can-i list secrets$/).waitFor();

  // A page that needs the files of the cluster says so.
  await go('/audit');
  await page.getByText('the console reads those of clusters it hosts').waitFor();

  await go('/fleet?kind=configmaps');
  await page.locator('main input[data-filter]').click();
  await page.keyboard.type('scoped-team');
  const clustersOf = (name: string): Locator => row(name);
  await until(
    'the object through both clusters',
    async () => (await clustersOf('scoped-team').count()) === 2,
  );
  await page.getByRole('link', { name: 'scoped-team' }).first().click();
  await page.getByRole('complementary', { name: 'ConfigMap scoped-team' }).waitFor();
  await go('/clusters');
  await page.getByRole('button', { name: `Use ${PLANE_CONTEXT}`, exact: true }).click();
});

test('a secret is shown by key, on request and for half a minute; its YAML shows no value before that', async () => {
  const { page, go, make } = plane;
  const applied = '{"stringData":{"password":"hunter2"}}';
  await make('/api/v1/namespaces/default/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'login',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied },
    },
    stringData: { password: 'hunter2', user: 'anna' },
  });
  await go('/config?kind=secrets&open=default/login');
  const drawer = page.getByRole('complementary');
  await drawer.getByText('password', { exact: true }).waitFor();
  expect(await drawer.textContent()).not.toMatch(/hunter2|anna/);
  const halfMinuteLater = await keepHalfMinute(page);
  const value = drawer.getByText('hunter2', { exact: true });
  await drawer.getByRole('button', { name: 'Reveal password' }).click();
  await value.waitFor();
  expect(await drawer.textContent()).not.toContain('anna');
  await halfMinuteLater();
  await value.waitFor({ state: 'detached' });
  // Once more, and left: it is hidden on the way back, too.
  await drawer.getByRole('button', { name: 'Reveal password' }).click();
  await value.waitFor();
  await drawer.getByRole('tab', { name: 'YAML' }).click();
  await drawer.getByText('last-applied-configuration').waitFor();
  const encoded = Buffer.from('hunter2').toString('base64');
  expect(await drawer.textContent()).not.toMatch(new RegExp(`hunter2|${encoded}`));
  await drawer.getByRole('switch').last().click();
  await drawer.getByText(encoded).waitFor();
  await halfMinuteLater();
  await drawer.getByText(encoded).waitFor({ state: 'detached' });
  await drawer.getByRole('tab', { name: 'Summary' }).click();
  await drawer.getByRole('button', { name: 'Reveal password' }).waitFor();
  expect(await drawer.textContent()).not.toContain('hunter2');
});

test('an Ingress shows its routes, a claim its volume, an autoscaler its bounds and targets', async () => {
  const { page, go, make } = plane;
  const metadata = { name: 'shop' };
  const service = { name: 'shop', port: { number: 80 } };
  const paths = [{ path: '/cart', pathType: 'Prefix', backend: { service } }];
  const request = { resources: { requests: { storage: '1Gi' } } };
  const volume = { accessModes: ['ReadWriteOnce'], storageClassName: '' };
  const cpu = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } };
  await make('/apis/networking.k8s.io/v1/namespaces/default/ingresses', {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata },
    spec: { rules: [{ host: 'shop.example', http: { paths } }] },
  });
  await make('/api/v1/persistentvolumes', {
    ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata },
    spec: { ...volume, capacity: { storage: '2Gi' }, hostPath: { path: '/nowhere' } },
  });
  await make('/api/v1/namespaces/default/persistentvolumeclaims', {
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata },
    spec: { ...volume, ...request, volumeName: 'shop' },
  });
  await make('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop' },
      ...{ minReplicas: 2, maxReplicas: 5, metrics: [{ type: 'Resource', resource: cpu }] },
    },
  });
  const section = (name: string): Locator =>
    page.getByRole('complementary').getByRole('region', { name, exact: true });
  await go('/network?kind=ingresses.networking.k8s.io&open=default/shop');
  await section('Routes').getByRole('row', { name: 'shop.example /cart Prefix shop:80' }).waitFor();
  await go('/workloads?kind=horizontalpodautoscalers.autoscaling&open=default/shop');
  await section('Autoscaling').getByText('2 to 5').waitFor();
  await section('Autoscaling')
    .getByRole('row', { name: /cpu.*80/ })
    .waitFor();
  await go('/storage?kind=persistentvolumeclaims&open=default/shop');
  await section('Claim').getByText('1Gi').waitFor();
  await section('Claim').getByRole('link', { name: 'shop' }).click();
  await section('Volume').getByText('2Gi').waitFor();
});

test('filters, columns, order and views are kept, and survive a reload', async () => {
  const { page, go, make } = plane;
  const service = (name: string, labels: Record<string, string>, type: string): Promise<unknown> =>
    make('/api/v1/namespaces/default/services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, labels },
      spec: { type, selector: { app: name }, ports: [{ port: 80 }] },
    });
  await service('view-quay', { app: 'quay', tier: 'front' }, 'ClusterIP');
  await service('view-pier', { app: 'pier' }, 'NodePort');
  await service('view-mole', { app: 'mole' }, 'NodePort');
  await go('/network?kind=services');
  await row('view-mole').waitFor();
  const shown = async (): Promise<string[]> =>
    (await page.getByRole('rowheader').allTextContents()).filter((name) => name.startsWith('view-'));
  const filter = page.locator('main input[data-filter]');
  const narrowed = async (text: string, expected: string[]): Promise<void> => {
    await filter.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type(text);
    await expect.poll(shown, { message: text }).toEqual(expected);
  };
  await narrowed('app=pier', ['view-pier']);
  await narrowed('view type!=NodePort', ['view-quay']);
  await narrowed('app in (pier, mole)', ['view-mole', 'view-pier']);
  await narrowed('tier=* view', ['view-quay']);
  await narrowed('name=~^view-[mp]', ['view-mole', 'view-pier']);

  const heads = async (): Promise<string[]> =>
    (await page.getByRole('columnheader').allTextContents()).map((text) => text.trim()).filter(Boolean);
  await page.getByRole('button', { name: 'Columns' }).click();
  const panel = dialog();
  await panel.getByRole('checkbox', { name: 'External-IP' }).click();
  await panel.getByRole('checkbox', { name: 'Selector' }).click();
  await panel.getByRole('button', { name: 'Move Age left' }).click();
  await panel.getByRole('button', { name: 'Move Age left' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('columnheader', { name: 'Name', exact: true }).getByRole('button').click();
  const own = await heads();
  expect(own).not.toContain('External-IP');
  expect(own.indexOf('Age')).toBeLessThan(own.length - 1);
  await page.getByRole('button', { name: 'Views' }).click();
  await dialog().getByRole('textbox').click();
  await page.keyboard.type('Harbour walls');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');

  await page.reload();
  await expect.poll(shown).toEqual(['view-pier', 'view-mole']);
  expect(await heads()).toEqual(own);
  await page.getByRole('button', { name: 'Columns' }).click();
  await dialog().getByRole('button', { name: 'Reset columns' }).click();
  await page.keyboard.press('Escape');
  await filter.click();
  await page.keyboard.press('Escape');
  await row('view-quay').waitFor();
  await page.getByRole('button', { name: 'Views' }).click();
  await dialog()
    .getByRole('button', { name: /^Harbour walls/ })
    .click();
  await expect.poll(shown).toEqual(['view-pier', 'view-mole']);
  expect(await heads()).toEqual(own);
});

test('the width of a pane, the density of rows and the text size survive a reload', async () => {
  const { page, go } = plane;
  await go('/network?kind=services&open=default/kubernetes');
  const drawer = page.getByRole('complementary');
  const edge = drawer.getByRole('separator', { name: 'Resize panel' });
  const width = async (): Promise<number> => Math.round((await drawer.boundingBox())?.width ?? 0);
  await edge.waitFor();
  const before = await width();
  const box = (await edge.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x - 96 + box.width / 2, box.y + 200, { steps: 4 });
  await page.mouse.up();
  await expect.poll(width).toBe(before + 96);
  await edge.focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(width).toBe(before + 80);

  await go('/settings');
  await page.getByRole('button', { name: 'Compact' }).click();
  await page.getByRole('button', { name: 'Large' }).click();
  await go('/network?kind=services&open=default/kubernetes');
  await page.reload();
  const line = page.getByRole('row').filter({ hasText: 'kubernetes' });
  await line.waitFor();
  expect(await width()).toBe(before + 80);
  expect((await line.boundingBox())?.height).toBe(24);
  expect(await line.evaluate((element) => getComputedStyle(element).fontSize)).toBe('14px');
});

test('the palette finds objects by name, kind, label and address, and acts on them', async () => {
  const { page, go, make, client } = plane;
  await make('/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'lantern', labels: { colour: 'green' } },
    spec: { ports: [{ port: 80 }] },
  });
  const { spec } = await client.json<{ spec: { clusterIP: string } }>({
    method: 'GET',
    path: '/api/v1/namespaces/default/services/lantern',
  });
  await go('/');
  const option = dialog().getByRole('option', { name: /^lantern Service/ });
  const search = async (text: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await dialog().getByRole('combobox').waitFor();
    await page.keyboard.type(text);
    await option.waitFor();
  };
  for (const text of ['colour=green', spec.clusterIP, 'svc lantern']) {
    await search(text);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  }
  await search('lantern');
  while ((await option.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('complementary').getByRole('heading', { name: 'lantern', exact: true }).waitFor();

  await search('svc lantern');
  while ((await option.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  await page.keyboard.type('delete');
  await dialog().getByRole('option', { name: 'Delete' }).waitFor();
  await page.keyboard.press('Enter');
  await dialog().getByRole('heading', { name: 'Delete Service lantern?' }).waitFor();
  await dialog().getByRole('textbox').click();
  await page.keyboard.type('lantern');
  await page.keyboard.press('Enter');
  await until('the service to be gone', async () => {
    const left = await names('/api/v1/namespaces/default/services', 'lantern');
    return left.length === 0;
  });
  // Closed, it keeps no index.
  await dialog().waitFor({ state: 'detached' });
});

test('a custom kind appears in the navigation by its group, and a dry run names the policies that decide about it', async () => {
  const { page, go } = plane;
  const sections = page.getByRole('navigation', { name: 'Sections' });
  await go('/custom');
  await page.getByText('No custom kinds').waitFor();
  await plane.make(DEFINITIONS, TOY_DEFINITION);
  await sections.getByRole('link', { name: 'toys.example.com' }).click();
  await page.getByRole('navigation', { name: 'Kinds' }).getByRole('link', { name: 'Toys' }).waitFor();
  await until('the kind to be served', () => plane.make(TOYS, toy('first', 'green')));
  await row('first').getByText('green').waitFor();
  await row('first').click();
  await page.getByRole('complementary').getByText('first').first().waitFor();
  await editToy(plane);

  for (const [path, body] of TOY_POLICIES) await plane.make(path, body);
  await go('/admission');
  await row('no-red-toys').getByText('CREATE toys.example.com/v1 toys').waitFor();
  await row('label-toys').getByText('Mutating policy').waitFor();
  await page.getByRole('group', { name: 'View' }).getByText('Dry run').click();
  const object = page.getByRole('textbox', { name: 'Object as YAML or JSON' });
  const run = page.getByRole('button', { name: 'Run', exact: true });
  await object.press('Control+A');
  await object.pressSequentially(JSON.stringify(toy('second', 'red')));
  // Policies are known to the server a moment after they were created.
  await until('the policy to deny', async () => {
    await run.click();
    await page.getByText('Would be rejected').waitFor({ timeout: 2_000 });
    return page.getByText('no-red-toys denied the request').isVisible();
  });
  await object.press('Control+A');
  await object.pressSequentially(JSON.stringify(toy('second', 'green')));
  await run.click();
  await page.getByText('Would be created').waitFor();
  await page.getByText('ValidatingAdmissionPolicy/no-red-toys').waitFor({ state: 'detached' });
  await page.getByText('MutatingAdmissionPolicy/label-toys').waitFor();
  await page.getByText('apply /metadata/labels/toy').first().waitFor();

  await expect(plane.make(TOYS, toy('third', 'red'))).rejects.toThrow('red toys are not allowed');
  await page.getByRole('group', { name: 'View' }).getByText('Webhooks and policies').click();
  await until('the denial to be counted', async () =>
    /[1-9]/.test((await row('no-red-toys').getByRole('cell').nth(3).textContent()) ?? ''),
  );

  await go('/requests?show=problems&filter=/toys');
  await row('/toys').first().click();
  await page.getByRole('complementary').getByText('ValidatingAdmissionPolicy/no-red-toys').first().waitFor();
  await plane.client.json({ method: 'DELETE', path: `${DEFINITIONS}/toys.toys.example.com` });
  await sections.getByRole('link', { name: 'toys.example.com' }).waitFor({ state: 'detached' });
});
