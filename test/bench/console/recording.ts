import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../core/base/log.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { requireCluster } from '../../../core/cluster/data-folder/open.ts';
import { Timeline } from '../../../core/cluster/timeline/timeline.ts';
import { watchMembers } from '../../../core/cluster/timeline/watch-members.ts';
import type { OperatedCluster } from '../../support/operated-cluster.ts';
import { printRow } from '../cluster/report.ts';

const GOAL_PERCENT = 1;
const SETTLE_MS = 5_000;
const SPAN_MS = 20_000;
const WRITES_PER_SECOND = 10;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const percentOver = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  const startedMs = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 10 / (performance.now() - startedMs);
};

/**
 * What a recorder costs its process: the same watches, members and log as in the one that runs the cluster, once more in this one,
 * where nothing else happens. Under load the bench itself writes; that share is measured first, without a recorder.
 */
export const measureRecording = async (cluster: OperatedCluster): Promise<void> => {
  const client = await cluster.client();
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-recording-'));
  const config = await requireCluster(cluster.data);
  const churn = async (): Promise<void> => {
    const path = '/apis/apps/v1/namespaces/default/deployments';
    const labels = { app: 'churn' };
    const spec = {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'nginx' }] } },
    };
    await client
      .json({
        method: 'POST',
        path,
        body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'churn' }, spec },
      })
      .catch(() => undefined);
    for (let write = 0; write < (SPAN_MS / 1000) * WRITES_PER_SECOND; write += 1) {
      const began = performance.now();
      const body = { spec: { template: { metadata: { annotations: { write: `${write}` } } } } };
      const contentType = 'application/merge-patch+json';
      await client.json({ method: 'PATCH', path: `${path}/churn`, body, contentType });
      await pause(Math.max(0, 1000 / WRITES_PER_SECOND - (performance.now() - began)));
    }
  };
  const alone = await percentOver(churn);
  const timeline = new Timeline({ dataDirectory: directory, clock: systemClock, log: silentLog });
  await timeline.start('bench');
  timeline.watchApi(client);
  const state = await cluster.state();
  const members = watchMembers(
    {
      folder: { directory: cluster.data },
      config,
      timeline,
      state: () => state,
      onChange: () => ({ dispose: () => undefined }),
    },
    { clock: systemClock, log: silentLog },
  );
  try {
    await pause(SETTLE_MS);
    printRow({
      name: 'recording a cluster at rest',
      value: await percentOver(() => pause(SPAN_MS)),
      unit: '% of a core',
      goal: GOAL_PERCENT,
    });
    printRow({
      name: `recording ${WRITES_PER_SECOND} rollouts a second`,
      value: (await percentOver(churn)) - alone,
      unit: '% of a core',
      note: `the bench's own writes: ${alone.toFixed(1)} %`,
    });
  } finally {
    members.dispose();
    await timeline.close();
    rmSync(directory, { recursive: true, force: true });
  }
};
