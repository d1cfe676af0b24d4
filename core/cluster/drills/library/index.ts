// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- an ambient module cannot be imported
/// <reference path="./yaml.d.ts" />
import { SaidError, say, type DrillSummary } from '../../../contract/index.ts';
import { parseDrill } from '../parse-drill.ts';
import badRollout from './bad-rollout.yaml?raw';
import blockingWebhook from './blocking-webhook.yaml?raw';
import brokenRbac from './broken-rbac.yaml?raw';
import certificateExpired from './certificate-expired.yaml?raw';
import controllersStopped from './controllers-stopped.yaml?raw';
import databaseFull from './database-full.yaml?raw';
import deletedNamespace from './deleted-namespace.yaml?raw';
import failedUpgrade from './failed-upgrade.yaml?raw';
import leaderLost from './leader-lost.yaml?raw';
import lostNode from './lost-node.yaml?raw';
import quorumLost from './quorum-lost.yaml?raw';
import runawayJob from './runaway-job.yaml?raw';
import schedulerDown from './scheduler-down.yaml?raw';
import skewedClock from './skewed-clock.yaml?raw';
import slowDisk from './slow-disk.yaml?raw';

/** The drills that come with Pilothouse, in the order in which they are best done. */
const TEXTS: readonly string[] = [
  schedulerDown,
  controllersStopped,
  leaderLost,
  lostNode,
  badRollout,
  blockingWebhook,
  brokenRbac,
  runawayJob,
  skewedClock,
  slowDisk,
  failedUpgrade,
  deletedNamespace,
  certificateExpired,
  databaseFull,
  quorumLost,
];

const built = (): ReadonlyMap<string, { readonly text: string; readonly summary: DrillSummary }> =>
  new Map(
    TEXTS.map((text) => {
      const { metadata, spec } = parseDrill(text, 'a built-in drill');
      const summary = {
        name: metadata.name,
        topic: spec.topic,
        difficulty: spec.difficulty,
        title: spec.title,
        germanTitle: spec.translations.de?.title ?? null,
        hints: spec.hints.length,
        ...spec.grade,
      };
      return [metadata.name, { text, summary }];
    }),
  );
let known: ReturnType<typeof built> | undefined;
const library = (): ReturnType<typeof built> => (known ??= built());

export const listDrills = (): readonly DrillSummary[] =>
  [...library().values()].map(({ summary }) => summary);

/** The document of a built-in drill. */
export const builtInText = (name: string): string => {
  const found = library().get(name);
  if (found) return found.text;
  throw new SaidError(
    'NotFound',
    say('drill.unknown', { drill: name, known: [...library().keys()].join(', ') }),
  );
};
