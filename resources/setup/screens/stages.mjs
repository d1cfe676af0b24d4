/** States of the console that a screen may need, apart from a healthy cluster: each is entered and left again. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyTo, callContract, clusterNamed, until } from './contract.mjs';
import { BERTHS, helmRelease, limitedKubeconfig, SHOP, UNREACHABLE_KUBECONFIG } from './exhibits.mjs';

const CLUSTER_LIMIT_MS = 240_000;
/** Long enough for faults to be noticed, and for a few samples of each. */
const NOTICED_MS = 12_000;

const isMain = ({ local }) => local && !local.isForDrills;
const isScratch = ({ local }) => local?.isForDrills === true;
export const mainCluster = (page) => clusterNamed(page, isMain);

/** As a person does, on the page of clusters. */
const use = async (page, origin, name) => {
  await page.goto(new URL('/#/clusters', origin).href);
  await page
    .getByRole('button', { name: new RegExp(`^(Use ${name}|${name} verwenden)$`) })
    .first()
    .click();
};

const act = async (page, cluster, action) => {
  await callContract(page, 'cluster.act', { cluster, action });
};

const untilReady = (page, test) =>
  until(
    'a ready cluster',
    async () => (await clusterNamed(page, test))?.local?.phase === 'ready',
    CLUSTER_LIMIT_MS,
  );

/** The shop with its faults and a Helm release; again on a cluster that has them, it changes nothing. */
export const furnish = async (page) => {
  const { id } = await mainCluster(page);
  await applyTo(page, id, SHOP);
  await applyTo(page, id, helmRelease(Date.now()));
  await until('the kind of the berths', () =>
    applyTo(page, id, BERTHS).then(
      () => true,
      () => false,
    ),
  );
};

const kube = async (page, cluster, method, path, body) => {
  const answer = await callContract(page, 'kube.request', { cluster, method, path, ...(body && { body }) });
  if (!answer.ok) throw new Error(answer.refusal.message);
  return answer.body;
};

const openKubeconfig = async (page, data, name, text) => {
  const path = join(data, name);
  writeFileSync(path, text, { mode: 0o600 });
  await callContract(page, 'clusters.openKubeconfig', { path });
};

export const useMain = async (page, { origin }) => {
  const { name } = await mainCluster(page);
  await use(page, origin, name);
};

const limited = {
  async enter(page, { origin, data }) {
    const { id, server } = await mainCluster(page);
    const account = '/api/v1/namespaces/shop/serviceaccounts/dev/token';
    const { status } = await kube(page, id, 'POST', account, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 7200 },
    });
    const root = await kube(page, id, 'GET', '/api/v1/namespaces/default/configmaps/kube-root-ca.crt');
    const authority = Buffer.from(root.data['ca.crt']).toString('base64');
    await openKubeconfig(
      page,
      data,
      'dev.yaml',
      limitedKubeconfig({ server, authority, token: status.token }),
    );
    await use(page, origin, 'dev@shop');
  },
  leave: useMain,
};

const unreachable = {
  async enter(page, { origin, data }) {
    await openKubeconfig(page, data, 'far.yaml', UNREACHABLE_KUBECONFIG);
    await use(page, origin, 'far-away');
  },
  leave: useMain,
};

/** One of three control planes is killed. */
const degraded = {
  async enter(page) {
    const { id } = await mainCluster(page);
    await act(page, id, { kind: 'host.kill', host: 'cp-1' });
    await page.waitForTimeout(NOTICED_MS);
  },
  async leave(page) {
    const { id } = await mainCluster(page);
    await act(page, id, { kind: 'host.start', host: 'cp-1' });
    await page.waitForTimeout(NOTICED_MS);
  },
};

/** A scratch cluster with a drill that has begun. */
const drill = {
  async enter(page, { origin }) {
    if (!(await clusterNamed(page, isScratch))) {
      const { wishes } = await callContract(page, 'clusters.defaults', undefined);
      const name = 'drills';
      await callContract(page, 'clusters.create', {
        ...wishes,
        name,
        controlPlanes: 1,
        etcdMembers: 1,
        workers: 1,
        purpose: 'drills',
      });
    }
    const { id, name, local } = await clusterNamed(page, isScratch);
    if (local.phase === 'stopped') await callContract(page, 'clusters.start', { cluster: id });
    await untilReady(page, isScratch);
    await use(page, origin, name);
    await callContract(page, 'drills.request', {
      cluster: id,
      request: { kind: 'start', name: 'pods-pending' },
    });
    await page.goto(new URL('/#/drills', origin).href);
    await page
      .getByRole('button', { name: /^(Show hint|Hinweis zeigen)$/ })
      .waitFor({ timeout: CLUSTER_LIMIT_MS });
  },
  async leave(page, place) {
    const { id } = await clusterNamed(page, isScratch);
    await callContract(page, 'drills.request', { cluster: id, request: { kind: 'giveUp' } }).catch(() => {});
    await useMain(page, place);
  },
};

/** What the person of that drill does. It takes a moment until the scheduler has its lease. */
export const repairScheduler = async (page) => {
  const { id } = await clusterNamed(page, isScratch);
  await act(page, id, { kind: 'component.start', host: 'cp-1', component: 'kube-scheduler' });
  await until('a repaired scheduler', async () => {
    const { run } = await callContract(page, 'drills.request', { cluster: id, request: { kind: 'check' } });
    return run?.phase === 'solved';
  });
};

/** The last of all: the cluster does not run. */
const stopped = {
  async enter(page) {
    const { id } = await mainCluster(page);
    // A host that the stage before has started may still be on its way.
    await until('the end of what runs', () =>
      callContract(page, 'clusters.stop', { cluster: id }).then(
        () => true,
        () => false,
      ),
    );
    await until(
      'the cluster to stop',
      async () => (await mainCluster(page)).local.phase === 'stopped',
      CLUSTER_LIMIT_MS,
    );
  },
  leave: (page) => startMain(page),
};

export const startMain = async (page) => {
  const { id, local } = await mainCluster(page);
  if (local.phase === 'ready') return;
  await callContract(page, 'clusters.start', { cluster: id });
  await untilReady(page, isMain);
};

/** In this order. A screen without a stage is taken of the healthy cluster, before all of them. */
export const STAGES = { limited, unreachable, drill, degraded, stopped };
