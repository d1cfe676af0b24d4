/** Every page of the console on a healthy cluster, and the views that a page has. */
import { pause, press } from './gestures.mjs';

/** Charts need a few samples before they look like charts. */
const SAMPLES_MS = 12_000;

const openFirst = (text) => async (page) => {
  await page.getByText(text).first().click();
  await page.waitForTimeout(2500);
};
const openRow = async (page) => {
  await page.waitForTimeout(1500);
  await page.locator('tbody th button, tbody tr button').first().click();
  await page.waitForTimeout(800);
};

export const PAGES = [
  { name: 'overview', go: '#/', act: pause(4000) },
  { name: 'clusters', go: '#/clusters' },
  { name: 'raft', go: '#/raft', act: pause(6000) },
  {
    name: 'raft-hashes',
    go: '#/raft',
    async act(page) {
      const compare = page.getByRole('button', { name: /^(Compare|Vergleichen)$/ });
      await compare.click();
      await page.getByText(/^(All members have|Alle Mitglieder haben)/).waitFor();
      await page.getByRole('cell', { name: 'cp-3', exact: true }).last().scrollIntoViewIfNeeded();
    },
  },
  { name: 'leases', go: '#/leases', act: pause(4000) },
  {
    name: 'timeline',
    go: '#/timeline',
    async act(page) {
      await page.getByRole('button', { name: /etcd/ }).last().click();
      await page.waitForTimeout(1000);
    },
  },
  { name: 'certificates', go: '#/certificates', act: pause(3000) },
  { name: 'requests', go: '#/requests', act: pause(3000) },
  { name: 'admission', go: '#/admission', act: pause(2000) },
  {
    name: 'admission-dry-run',
    go: '#/admission?view=dry-run',
    async act(page) {
      await press(page, /^(Run|Ausführen)$/);
      await page.getByText(/^(Would be|Würde|Bliebe)/).waitFor();
    },
  },
  {
    name: 'scheduler',
    go: '#/scheduler',
    async act(page) {
      await page
        .getByText(/^hello-/)
        .first()
        .click();
      await page.waitForTimeout(3000);
    },
  },
  { name: 'metrics', go: '#/metrics', act: pause(4000) },
  { name: 'snapshots', go: '#/snapshots', act: pause(1000) },
  {
    name: 'history',
    go: '#/history?kind=apps/deployments&key=/registry/deployments/default/hello',
    async act(page) {
      await page.getByRole('complementary').getByText('apps/v1', { exact: false }).first().waitFor();
    },
  },
  {
    name: 'history-versions',
    go: '#/history?kind=apps/deployments&key=/registry/deployments/default/hello',
    async act(page) {
      await page
        .getByRole('complementary')
        .getByText(/^(Versions|Versionen)$/)
        .click();
      await page.getByRole('complementary').getByRole('listitem').first().waitFor();
    },
  },
  { name: 'history-compare', go: '#/history?view=compare', act: pause(4000) },
  { name: 'doctor', go: '#/doctor', act: pause(6000) },
  { name: 'drills', go: '#/drills', act: pause(1500) },
  {
    name: 'ports',
    go: '#/network?kind=services&open=default/hello&tab=ports',
    async act(page) {
      await press(page, /^(Forward port|Port) \d+( weiterleiten)?$/);
      await page.getByText('http://127.0.0.1:').first().waitFor();
      await page.waitForTimeout(500);
    },
  },
  // With the port that the screen before has opened.
  { name: 'forwards', go: '#/forwards', act: pause(500) },
  { name: 'actions', go: '#/actions', act: pause(500) },
  { name: 'workspaces', go: '#/workspaces', act: pause(500) },
  { name: 'extensions', go: '#/extensions', act: pause(500) },
  { name: 'controllers', go: '#/controllers', act: pause(2500) },
  { name: 'graph', go: '#/graph?namespace=shop', act: pause(2000) },
  { name: 'helm', go: '#/helm', act: pause(2000) },
  { name: 'upgrade', go: '#/upgrade', act: pause(2000) },
  { name: 'checklist', go: '#/checklist', act: pause(6000) },
  { name: 'harden', go: '#/harden', act: pause(2000) },
  { name: 'encryption', go: '#/encryption', act: pause(1500) },
  { name: 'audit', go: '#/audit', act: pause(2500) },
  {
    name: 'audit-event',
    go: '#/audit',
    act: async (page) => {
      await page.locator('tbody th button').first().click();
      await page.waitForTimeout(500);
    },
  },
  { name: 'permissions', go: '#/permissions?verb=get&resource=secrets', act: pause(2500) },
  {
    name: 'permissions-subject',
    go: '#/permissions?view=subject&kind=ServiceAccount&name=kube-system/deployment-controller',
    act: pause(2000),
  },
  {
    name: 'permissions-reach',
    go: '#/permissions?view=reach&from=192.0.2.1&to=192.0.2.2&port=80',
    act: pause(2000),
  },
  { name: 'flow-control', go: '#/flow-control', act: pause(2500) },
  { name: 'workloads', go: '#/workloads', act: pause(1500) },
  { name: 'pods', go: '#/workloads?kind=pods', act: pause(1500) },
  { name: 'deployment', go: '#/workloads?kind=deployments.apps&open=default/hello', act: pause(2000) },
  {
    name: 'pod',
    go: '#/workloads?kind=pods',
    async act(page) {
      await page
        .getByRole('row')
        .filter({ hasText: /hello-/ })
        .first()
        .click();
      await page.waitForTimeout(2000);
    },
  },
  {
    name: 'deployment-logs',
    go: '#/workloads?kind=deployments.apps&open=default/hello&tab=logs',
    act: pause(2000),
  },
  {
    name: 'component-logs',
    go: '#/workloads?kind=pods&open=kube-system/kube-apiserver-cp-1&tab=logs',
    async act(page) {
      await page
        .getByRole('button', { name: /^(Fields|Felder)$/ })
        .last()
        .click();
      await page.waitForTimeout(1000);
    },
  },
  { name: 'service', go: '#/network?kind=services&open=default/hello', act: pause(2000) },
  { name: 'node', go: '#/cluster?kind=nodes&open=/worker-1', act: pause(2000) },
  {
    name: 'role',
    go: '#/access?kind=clusterroles.rbac.authorization.k8s.io&open=/edit',
    act: pause(1500),
  },
  { name: 'network', go: '#/network', act: pause(1500) },
  { name: 'storage', go: '#/storage', act: pause(1500) },
  { name: 'config', go: '#/config', act: pause(1500) },
  { name: 'access', go: '#/access', act: pause(1500) },
  { name: 'nodes', go: '#/cluster', act: pause(1500) },
  { name: 'custom', go: '#/custom', act: pause(1500) },
  { name: 'editor', go: '#/editor', act: pause(3000) },
  { name: 'events', go: '#/events', act: pause(1500) },
  { name: 'fleet', go: '#/fleet', act: pause(2000) },
  { name: 'settings', go: '#/settings' },
  { name: 'processes', go: '#/processes', act: pause(SAMPLES_MS) },
  { name: 'help', go: '#/help', act: pause(500) },
  {
    name: 'help-page',
    go: '#/help',
    async act(page) {
      await page.locator('main nav a, main aside a').nth(3).click();
      await page.waitForTimeout(800);
    },
  },
  { name: 'graph-object', go: '#/graph?namespace=shop&kind=Service&name=checkout', act: pause(2500) },
  { name: 'graph-all', go: '#/graph?namespace=kube-system', act: pause(2500) },
  { name: 'controllers-open', go: '#/controllers?open=replicaset-controller', act: pause(2500) },
  { name: 'helm-release', go: '#/helm?open=shop/web', act: pause(2000) },
  ...['values', 'notes', 'history'].map((tab, index) => ({
    name: `helm-${tab}`,
    go: '#/helm?open=shop/web',
    async act(page) {
      const panel = page.getByRole('complementary');
      await panel
        .locator('.segmented button')
        .nth(index + 1)
        .click();
      if (tab === 'history') await panel.getByRole('button', { name: 'Diff' }).first().click();
      await page.waitForTimeout(1500);
    },
  })),
  { name: 'timeline-all', go: '#/timeline', act: pause(2500) },
  { name: 'scheduler-what-if', go: '#/scheduler?view=what-if', act: pause(2000) },
  { name: 'scheduler-pending', go: '#/scheduler', act: openFirst(/^search-/) },
  { name: 'requests-trace', go: '#/requests', act: openRow },
  { name: 'audit-denied', go: '#/audit?who=all&verb=any&denied=1', act: pause(2000) },
  { name: 'permissions-ask', go: '#/permissions', act: pause(1000) },
  { name: 'metrics-etcd', go: '#/metrics?section=etcd', act: pause(4000) },
  ...[
    ['pods-broken', '#/workloads?kind=pods&problems=1'],
    ['cronjobs', '#/workloads?kind=cronjobs.batch&open=shop/reports'],
    ['hpa', '#/workloads?kind=horizontalpodautoscalers.autoscaling&open=shop/cart'],
    ['ingress', '#/network?kind=ingresses.networking.k8s.io&open=shop/shop'],
    ['claim', '#/storage?kind=persistentvolumeclaims&open=shop/orders'],
    ['secret', '#/config?kind=secrets&open=shop/cart'],
    ['configmap-yaml', '#/config?kind=configmaps&open=shop/cart&tab=yaml'],
    ['quota', '#/config?kind=resourcequotas&open=shop/shop'],
    ['budget', '#/workloads?kind=poddisruptionbudgets.policy&open=shop/cart'],
    [
      'definition',
      '#/cluster?kind=customresourcedefinitions.apiextensions.k8s.io&open=/berths.harbour.example.com',
    ],
    ['custom-object', '#/custom?kind=berths.harbour.example.com&open=shop/north'],
    ['binding', '#/access?kind=clusterrolebindings.rbac.authorization.k8s.io&open=/cluster-admin'],
    ['deployment-rollout', '#/workloads?kind=deployments.apps&open=shop/images&tab=rollout'],
    ['deployment-events', '#/workloads?kind=deployments.apps&open=shop/cart&tab=events'],
    ['deployment-yaml', '#/workloads?kind=deployments.apps&open=shop/cart&tab=yaml'],
    ['logs', '#/workloads?kind=deployments.apps&open=shop/cart&tab=logs'],
    ['control-plane-node', '#/cluster?kind=nodes&open=/cp-1'],
  ].map(([name, go]) => ({ name, go, act: pause(2000) })),
];
