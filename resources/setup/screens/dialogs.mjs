/** Dialogs, menus and popovers, each open over its page. */
import { press } from './gestures.mjs';

const escape = (page) => page.keyboard.press('Escape');
/** Opened by the address, as the palette does. */
const opened = (name, go) => ({
  name,
  go,
  async act(page) {
    await page.getByRole('dialog').waitFor();
    await page.waitForTimeout(1500);
  },
  leave: escape,
});
const pressed = (name, go, button) => ({
  name,
  go,
  async act(page) {
    await press(page, button);
    await page.getByRole('dialog').waitFor();
    await page.waitForTimeout(1500);
  },
  leave: escape,
});
const drawerOf = (object) => `#/workloads?kind=deployments.apps&open=${object}`;

export const DIALOGS = [
  {
    name: 'kill-dialog',
    go: '#/',
    async act(page) {
      await page.getByRole('button', { name: /^\S+ \S+ cp-1$/ }).click();
      await page.getByRole('menuitem', { name: /^(Kill cp-1|cp-1 hart beenden)/ }).click();
      await page.getByRole('dialog').waitFor();
      await page.waitForTimeout(1000);
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  {
    name: 'restore',
    go: '#/snapshots',
    async act(page) {
      await page
        .getByRole('button', { name: /^(Restore|Wiederherstellen)$/ })
        .first()
        .click();
      await page
        .getByText(/^(Changes|Änderungen)$/)
        .first()
        .waitFor();
      await page.waitForTimeout(1000);
    },
  },
  {
    name: 'columns',
    go: '#/workloads?kind=pods&filter=status%3DRunning',
    async act(page) {
      await press(page, /^(Columns|Spalten)$/);
      await page.waitForTimeout(500);
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  {
    name: 'palette',
    go: '#/',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  {
    name: 'palette-found',
    go: '#/',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.type('hello');
      await page.waitForTimeout(2000);
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  {
    name: 'shortcuts',
    go: '#/workloads?kind=pods',
    async act(page) {
      await page.getByRole('grid').focus();
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  {
    name: 'row-menu',
    go: '#/workloads?kind=deployments.apps',
    async act(page) {
      await page.getByRole('grid').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Shift+F10');
      await page.getByRole('menu').waitFor();
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  {
    name: 'bulk',
    go: '#/workloads?kind=pods',
    async act(page) {
      await page.getByRole('rowheader').first().waitFor();
      await page.getByRole('grid').focus();
      await page.keyboard.press('Control+a');
      await page.getByRole('toolbar').getByRole('button').nth(1).click();
      await page.getByRole('dialog').waitFor();
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  {
    name: 'renew',
    go: '#/certificates?act=renew',
    async act(page) {
      await page.getByRole('dialog').waitFor();
      await page.waitForTimeout(1500);
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  pressed('create-cluster', '#/clusters', /^(Create cluster…|Cluster erstellen…)$/),
  pressed('open-kubeconfig', '#/clusters', /^(Open kubeconfig…|Kubeconfig öffnen…)$/),
  pressed('stop-cluster', '#/clusters', /^(Stop \S+|\S+ stoppen)$/),
  pressed('delete-cluster', '#/clusters', /^(Delete \S+|\S+ löschen)$/),
  opened('delete-object', `${drawerOf('shop/cart')}&act=delete`),
  opened('scale', `${drawerOf('shop/cart')}&act=scale`),
  opened('restart', `${drawerOf('shop/cart')}&act=restart`),
  opened('drain', '#/cluster?kind=nodes&open=/worker-1&act=drain'),
  opened('cordon', '#/cluster?kind=nodes&open=/worker-1&act=cordon'),
  opened('snapshot-save', '#/snapshots?act=save'),
  opened('rotate-key', '#/encryption?act=rotate'),
  opened('move-leader', '#/raft?act=move'),
  opened('add-member', '#/raft?act=add'),
  opened('defragment', '#/raft?act=defragment'),
  opened('compact', '#/raft?act=compact'),
  pressed('harden-apply', '#/harden', /^(Harden|Härten)$/),
  pressed('upgrade-apply', '#/upgrade', /^(Upgrade to|Upgrade auf)/),
  {
    name: 'fault',
    go: '#/',
    async act(page) {
      await page.getByRole('button', { name: /^\S+ \S+ cp-1$/ }).click();
      await page
        .getByRole('menuitem', { name: /^(Inject fault|Fehler injizieren)/ })
        .first()
        .click();
      await page.getByRole('dialog').waitFor();
      await page.waitForTimeout(1000);
    },
    leave: escape,
  },
  {
    name: 'host-menu',
    go: '#/',
    async act(page) {
      await page.getByRole('button', { name: /^\S+ \S+ cp-1$/ }).click();
      await page.getByRole('menu').waitFor();
    },
    leave: escape,
  },
  ...[
    ['helm-rollback', 'history', /^(Roll back|Zurückrollen)$/],
    ['helm-uninstall', 'objects', /^(Uninstall|Deinstallieren)$/],
  ].map(([name, tab, button]) => ({
    name,
    go: '#/helm?open=shop/web',
    async act(page) {
      if (tab === 'history')
        await page.getByRole('complementary').locator('.segmented button').last().click();
      await press(page, button);
      await page.getByRole('dialog').waitFor();
      await page.waitForTimeout(2500);
    },
    leave: escape,
  })),
  {
    name: 'history-restore',
    go: '#/history?kind=apps/deployments&key=/registry/deployments/shop/cart',
    async act(page) {
      // One version back: what is stored now cannot be restored.
      await page.getByRole('slider').focus();
      for (let step = 0; step < 5; step += 1) await page.keyboard.press('ArrowLeft');
      await page.waitForTimeout(1500);
      await press(page, /^(Restore this object|Objekt wiederherstellen)$/);
      await page.getByRole('dialog').waitFor();
      await page.waitForTimeout(2500);
    },
    leave: escape,
  },
  {
    name: 'debug-container',
    go: '#/workloads?kind=pods',
    async act(page) {
      await page.getByRole('row').filter({ hasText: /cart-/ }).first().click();
      await page.getByRole('complementary').getByRole('tab', { name: 'Terminal' }).click();
      await press(page, /^Debug[ -][cC]ontainer$/);
      await page.waitForTimeout(1000);
    },
    leave: escape,
  },
  {
    name: 'secret-revealed',
    go: '#/config?kind=secrets&open=shop/cart',
    async act(page) {
      await press(page, /^(Reveal password|password anzeigen)$/);
      await page.waitForTimeout(500);
    },
  },
  {
    name: 'editor-dry-run',
    go: '#/editor',
    async act(page) {
      await page.waitForTimeout(2000);
      await page.keyboard.press('F5');
      await page.waitForTimeout(4000);
    },
  },
  {
    name: 'editor-problems',
    go: '#/editor?new=empty',
    async act(page) {
      await page.waitForTimeout(2000);
      for (const line of [
        'apiVersion: apps/v1',
        'kind: Deployment',
        'metadata:',
        '  nam: web',
        'spec:',
        '  replicas: two',
      ]) {
        await page.keyboard.press('Shift+Home');
        await page.keyboard.type(line);
        await page.keyboard.press('Escape');
        await page.keyboard.press('Enter');
      }
      await page.keyboard.press('F5');
      await page.waitForTimeout(3000);
    },
  },
  {
    name: 'editor-completion',
    go: '#/editor?new=empty',
    async act(page) {
      await page.waitForTimeout(2000);
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Delete');
      await page.keyboard.type('apiV');
      await page.keyboard.press('Control+Space');
      await page.waitForTimeout(1500);
    },
    leave: escape,
  },
  ...[
    ['switcher', '#/', /^(Cluster: )/],
    ['notifications', '#/', /(notification|Benachrichtigung)/i],
    ['views-menu', '#/workloads?kind=pods', /^(Views|Ansichten)$/],
    ['filter-help', '#/workloads?kind=pods', /^(Filter syntax|Filtersyntax)$/],
    ['namespaces', '#/workloads?kind=pods', /^Namespace/],
    ['watch-badge', '#/workloads?kind=pods', /^(Watch status|Watch-Status)/],
    ['theme-menu', '#/', /^(Theme|Design)/],
  ].map(([name, go, button]) => ({
    name,
    go,
    async act(page) {
      await press(page, button);
      await page.waitForTimeout(800);
    },
    leave: escape,
  })),
  {
    name: 'bulk-scale',
    go: '#/workloads?kind=deployments.apps',
    async act(page) {
      await page.getByRole('rowheader').first().waitFor();
      await page.getByRole('grid').focus();
      await page.keyboard.press('Control+a');
      await page
        .getByRole('toolbar')
        .getByRole('button', { name: /^(Scale|Skalieren)$/ })
        .click();
      await page.getByRole('dialog').waitFor();
    },
    leave: escape,
  },
];
