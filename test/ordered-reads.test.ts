import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const RENDERER = resolve(dirname(fileURLToPath(import.meta.url)), '../renderer');
const sources = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: RENDERER,
  encoding: 'utf8',
})
  .split('\n')
  .filter(
    (file) =>
      /\.(?:ts|vue)$/.test(file) &&
      !/(?:\.test\.ts|^testing\/|^bridge\/)/.test(file) &&
      existsSync(join(RENDERER, file)),
  );

/** Calls that change something: nothing is shown from their response, or it is the one that a person waits for. */
const CHANGES =
  /^(?:clusters\.(?:create|start|stop|delete|openKubeconfig|forget|setReadOnly|allowPlugin)|cluster\.(?:act|pauseOperation)|backups\.(?:schedule|choose)|forwards\.(?:open|close)|settings\.write|kube\.apply|kube\.execInput)$/;
/** Keeps responses in the order of requests, or sends no request before the response to the one before. */
const ORDERED = /\b(?:useLatestCall|createTurns|useDryRun|usePoll)(?:<\w+>)?\(/;
/** Reads that cannot overtake each other, with the reason. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'composables/useCall.ts': 'the call itself',
  'composables/useBulk.ts': 'changes objects, one response each',
  'composables/useChange.ts': 'changes an object',
  'stores/undo.ts': 'changes objects one after the other',
  'pages/editor/EditorPage.vue': 'opens a tab for every response',
  'pages/editor/useManifestSchema.ts': 'asks for each schema once and keys responses by path and cluster',
  'pages/resources/detail/DeleteDialog.vue': 'reads objects before it deletes them',
  'pages/resources/detail/useRelated.ts': 'sends no request while one is under way',
  'pages/resources/detail/useRevisions.ts': 'sends no request while one is under way',
  'pages/resources/detail/files/useFileTransfer.ts': 'writes the chunks of a file one after the other',
  'pages/drills/ScratchCard.vue': 'reads defaults before it creates a cluster',
  'pages/drills/useDrill.ts': 'sends no request while one is under way',
  'pages/extensions/ExtensionFrame.vue':
    'each response goes to the request of the extension that it belongs to',
  'pages/admission/DryRun.vue': 'its button is busy until the response is there',
};

test('every page keeps responses in order: an older one never replaces a newer one', () => {
  expect(sources.length).toBeGreaterThan(300);
  const unordered = sources.filter((file) => {
    const text = readFileSync(join(RENDERER, file), 'utf8');
    const reads = [...text.matchAll(/(?:\buseCall|\.call)\(\s*'([\w.]+)'/g)].filter(
      ([, name = '']) => !CHANGES.test(name),
    );
    return reads.length > 0 && !ORDERED.test(text) && !(file in OTHERWISE);
  });
  expect(unordered).toEqual([]);
});

/** Everything else is watched. */
const POLLED: Readonly<Record<string, string>> = {
  'tables/useUsage.ts': 'metrics.k8s.io has no watch',
  'pages/overview/data/useStrip.ts': 'figures of API servers',
  'pages/overview/data/useWorkload.ts':
    'reads requests of pods after changes that a watch reports, and once a minute',
  'pages/controllers/ControllersView.vue': 'queues, from /debug/controllers',
  'pages/audit/AuditView.vue': 'log files',
  'pages/flow-control/FlowControlView.vue': 'seats, from /debug/api_priority_and_fairness',
  'pages/xray/PodScheduling.vue': 'attempts of the scheduler',
  'pages/admission/useAdmission.ts': 'figures of API servers, and the objects that they belong to',
};

test('no page polls what it can watch', () => {
  const polling = sources.filter(
    (file) =>
      file !== 'composables/usePoll.ts' && /\busePoll\(/.test(readFileSync(join(RENDERER, file), 'utf8')),
  );
  expect(polling.toSorted()).toEqual(Object.keys(POLLED).toSorted());
});
