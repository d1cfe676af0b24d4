import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { encodeLine } from '../../../core/cluster/timeline/entry-lines.ts';
import { LOG_BOUNDS } from '../../../core/cluster/timeline/timeline-log.ts';
import { TIMELINE_ENTRIES_MAX, TIMELINE_LANES } from '../../../core/contract/index.ts';
import { launchChromium, visit } from '../../support/chromium.ts';
import { up } from '../../support/cluster.ts';
import { operate, type OperatedCluster } from '../../support/operated-cluster.ts';
import { printRow } from '../cluster/report.ts';
import { measureRecording } from './recording.ts';

/**
 * What the console remembers of a cluster of its own, in the real page: a timeline that is as long as it gets, and an
 * object at a revision of long ago.
 */
const NETWORK = '218';
const OPENED_GOAL_MS = 200;
const FRAMES_GOAL = 59;
const REVISIONS = 200;
const OPENS = 20;
const ZOOM_MS = 5_000;
const LINE_BYTES = 220;
const HOUR_MS = 3_600_000;
const WAIT_MS = 60_000;
const SETTLE_MS = 3_000;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const KEY = '/registry/configmaps/default/past';

/** As the cluster itself would have recorded them over an hour, in files of the size that it writes. */
const writeTimeline = (folder: string): void => {
  const perFile = Math.floor(LOG_BOUNDS.fileBytesMax / LINE_BYTES);
  const startMs = Date.now() - HOUR_MS;
  const entryAt = (id: number): string =>
    encodeLine({
      id,
      atMs: startMs + id * (HOUR_MS / TIMELINE_ENTRIES_MAX),
      endMs: null,
      isOpen: false,
      lane: TIMELINE_LANES[id % TIMELINE_LANES.length]!,
      kind: 'memberUp',
      severity: (['ok', 'info', 'warn', 'error'] as const)[id % 4]!,
      text: { code: 'timeline.memberUp', values: { member: `cp-${id % 3}` } },
      source: null,
      about: [],
    });
  for (let first = 1_000; first < TIMELINE_ENTRIES_MAX; first += perFile) {
    const count = Math.min(perFile, TIMELINE_ENTRIES_MAX - first);
    const lines = Array.from({ length: count }, (_, at) => entryAt(first + at));
    writeFileSync(join(folder, `${first}.jsonl`), lines.join(''), { mode: 0o600 });
  }
};

/** From the change of the address to the first frame that shows the text. */
const openUntil = (page: Page, hash: string, text: string): Promise<number> =>
  page.evaluate(
    ([address, wanted, limitMs]) =>
      new Promise<number>((resolve, reject) => {
        const startedMs = performance.now();
        const look = (): void => {
          const took = performance.now() - startedMs;
          // Monaco draws blanks of a line as no-break spaces.
          if (document.body.textContent.replaceAll('\u00a0', ' ').includes(wanted)) resolve(took);
          else if (took > limitMs) reject(new Error(`${wanted} is not shown within ${limitMs} ms`));
          else requestAnimationFrame(look);
        };
        window.location.hash = address;
        requestAnimationFrame(look);
      }),
    [hash, text, WAIT_MS] as const,
  );

const measureRevisions = async (page: Page, cluster: OperatedCluster): Promise<void> => {
  const client = await cluster.client();
  const revisions: number[] = [];
  const write = async (step: number): Promise<void> => {
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'past' },
      data: { step: `step-${step}-end` },
    };
    const isFirst = step === 0;
    const stored = await client.json<{ metadata: { resourceVersion: string } }>({
      method: isFirst ? 'POST' : 'PUT',
      path: isFirst ? CONFIG_MAPS : `${CONFIG_MAPS}/past`,
      body,
    });
    revisions.push(Number(stored.metadata.resourceVersion));
  };
  for (let step = 0; step < REVISIONS; step += 1) await write(step);
  const took: number[] = [];
  for (let turn = 0; turn < OPENS; turn += 1) {
    const step = (turn * 7) % (REVISIONS / 2);
    const query = new URLSearchParams({ kind: '/configmaps', key: KEY, revision: String(revisions[step]) });
    took.push(await openUntil(page, `#/history?${query}`, `step-${step}-end`));
  }
  const [first = Number.NaN, ...again] = took;
  again.sort((a, b) => a - b);
  const name = 'object at an old revision, from the click';
  printRow({ name: `${name}, first time`, value: first, unit: 'ms' });
  printRow({ name: `${name}, again`, value: again[again.length >> 1]!, unit: 'ms', goal: OPENED_GOAL_MS });
};

const measureZoom = async (page: Page): Promise<void> => {
  await page.evaluate(() => (window.location.hash = '#/timeline'));
  const canvas = page.getByRole('application').first();
  await canvas.waitFor({ timeout: WAIT_MS });
  await page.waitForTimeout(SETTLE_MS);
  const { frames, worstMs, seconds } = await canvas.evaluate(
    (element, spanMs) =>
      new Promise<{ frames: number; worstMs: number; seconds: number }>((resolve) => {
        const box = element.getBoundingClientRect();
        const target = element;
        const startedMs = performance.now();
        let [beforeMs, frames, worstMs] = [startedMs, 0, 0];
        const look = (): void => {
          const now = performance.now();
          worstMs = Math.max(worstMs, now - beforeMs);
          beforeMs = now;
          frames += 1;
          if (now - startedMs >= spanMs)
            return resolve({ frames, worstMs, seconds: (now - startedMs) / 1000 });
          // In for a second, out for a second: every frame paints another range.
          const deltaY = Math.floor((now - startedMs) / 1000) % 2 === 0 ? -100 : 100;
          const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 };
          target.dispatchEvent(new WheelEvent('wheel', { deltaY, ...at, bubbles: true, cancelable: true }));
          requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }),
    ZOOM_MS,
  );
  printRow({
    name: `timeline of ${TIMELINE_ENTRIES_MAX} entries in the page: frames while it zooms`,
    value: frames / seconds,
    unit: '/s',
    goal: FRAMES_GOAL,
    note: `worst gap ${worstMs.toFixed(0)} ms`,
  });
};

export const measurePast = async (): Promise<void> => {
  const cluster = await operate('--network', NETWORK, '--control-planes', '1', '--workers', '1');
  const browser = await launchChromium();
  try {
    await measureRecording(cluster);
    await cluster.down('SIGTERM');
    writeTimeline(join(cluster.data, 'timeline'));
    const serving = await up('--data', cluster.data, '--serve');
    try {
      const url = /console (\S+)/.exec(serving.stdout)?.[1] ?? '';
      const { page, close } = await visit(browser, url);
      await page.getByRole('heading', { name: 'Topology' }).waitFor();
      await measureZoom(page);
      await measureRevisions(page, cluster);
      await close();
    } finally {
      await serving.end('SIGTERM');
    }
  } finally {
    await browser.close();
    await cluster.close();
  }
};
