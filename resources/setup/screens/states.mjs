/** Screens when something is missing, denied, broken or at rest. The name of the stage says what it takes. */
import { pause, press } from './gestures.mjs';
import { repairScheduler } from './stages.mjs';

/** Pages that a cluster of a kubeconfig has in part, or not at all. */
const FOREIGN = [
  'raft',
  'leases',
  'timeline',
  'certificates',
  'requests',
  'admission',
  'scheduler',
  'metrics',
  'snapshots',
  'history',
  'doctor',
  'drills',
  'controllers',
  'graph',
  'helm',
  'upgrade',
  'checklist',
  'harden',
  'encryption',
  'audit',
  'permissions',
  'flow-control',
  'processes',
  'events',
  'workloads',
  'cluster',
];
const of = (stage, name, go, ms = 2000) => ({ name: `${stage}-${name}`, stage, go, act: pause(ms) });

export const STATES = [
  { name: 'not-found', go: '#/nowhere', isLoose: true, act: pause(500) },
  { name: 'empty-list', go: '#/workloads?kind=daemonsets.apps', act: pause(1500) },
  { name: 'no-match', go: '#/workloads?kind=pods&filter=nothing-like-it', act: pause(1500) },
  { name: 'no-object', go: '#/workloads?kind=pods&open=default/gone', act: pause(1500) },
  of('limited', 'overview', '#/', 3000),
  of('limited', 'configmaps', '#/config?kind=configmaps'),
  of('limited', 'secrets', '#/config?kind=secrets'),
  {
    name: 'limited-unlock',
    stage: 'limited',
    go: '#/config?kind=configmaps',
    async act(page) {
      await press(page, /^(Read-only|Schreibgeschützt)$/);
      await page.waitForTimeout(800);
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  ...FOREIGN.map((name) => of('limited', name, `#/${name}`, 2500)),
  of('unreachable', 'overview', '#/', 3000),
  of('unreachable', 'workloads', '#/workloads', 3000),
  of('unreachable', 'doctor', '#/doctor', 4000),
  of('unreachable', 'graph', '#/graph', 3000),
  of('unreachable', 'clusters', '#/clusters', 1000),
  of('drill', 'running', '#/drills'),
  {
    name: 'drill-hint',
    stage: 'drill',
    go: '#/drills',
    async act(page) {
      await press(page, /^(Show hint|Hinweis zeigen)$/);
      await press(page, /^(Check repair|Reparatur prüfen)$/);
      await page.waitForTimeout(4000);
    },
  },
  {
    name: 'drill-graded',
    stage: 'drill',
    go: '#/drills',
    async act(page) {
      await repairScheduler(page);
      await page
        .getByText(/^(What happened|Was geschah)$/)
        .first()
        .waitFor({ timeout: 120_000 });
    },
  },
  {
    name: 'own-drill',
    stage: 'drill',
    go: '#/drills',
    async act(page) {
      await press(page, /^(Your own drill|Eigene Übung)$/);
      await page.getByRole('dialog').waitFor();
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  of('degraded', 'overview', '#/', 4000),
  of('degraded', 'raft', '#/raft', 4000),
  of('degraded', 'leases', '#/leases', 3000),
  of('degraded', 'doctor', '#/doctor', 6000),
  of('degraded', 'checklist', '#/checklist', 5000),
  of('degraded', 'timeline', '#/timeline', 3000),
  of('degraded', 'controllers', '#/controllers', 3000),
  of('degraded', 'processes', '#/processes', 3000),
  of('degraded', 'certificates', '#/certificates', 3000),
  of('degraded', 'upgrade', '#/upgrade', 3000),
  of('degraded', 'metrics', '#/metrics', 4000),
  of('stopped', 'overview', '#/'),
  of('stopped', 'workloads', '#/workloads'),
  of('stopped', 'raft', '#/raft'),
  of('stopped', 'snapshots', '#/snapshots'),
  of('stopped', 'helm', '#/helm'),
  of('stopped', 'graph', '#/graph'),
  of('stopped', 'doctor', '#/doctor', 4000),
  of('stopped', 'timeline', '#/timeline'),
  of('stopped', 'clusters', '#/clusters'),
  of('stopped', 'fleet', '#/fleet'),
];
