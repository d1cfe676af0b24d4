import { chmod, lstat } from 'node:fs/promises';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { say, SaidError, verbatim, type HardeningWishes } from '../../contract/index.ts';
import { exposedPaths } from '../data-folder/exposed-files.ts';
import { saveClusterSnapshot } from '../backup/save-snapshot.ts';
import { prepareEncryption, writeEncrypted } from '../encryption/enable.ts';
import { writtenPrefixes } from '../data-folder/encryption-configuration.ts';
import { rewriteAll } from '../encryption/rotate.ts';
import { changeManifest } from '../flags/change-manifest.ts';
import { inStep, silentReport, type StepReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { assertHealthy } from '../supervisor/move.ts';
import type { HardeningDraft } from './draft.ts';
import { draftHardening, hardeningFacts, hardeningSteps, isEmptyDraft } from './plan.ts';
import { readHardeningState, withEarlier, writeHardeningState, type HardeningState } from './state.ts';

const RESUME = 'pilothouse harden apply';
const OTHERS_BITS = 0o077;

export interface HardeningOutcome {
  /** False: the cluster had all of it. */
  readonly isChanged: boolean;
  readonly hosts: readonly string[];
  readonly files: readonly string[];
  readonly snapshot: string | null;
}

export const NO_WISHES: HardeningWishes = { skip: [], backupDirectory: null, oidc: null };

/** An interrupted call is resumed with what it was asked for, unless something else is asked for now. */
const wishesFor = (wishes: HardeningWishes, before: HardeningState | undefined): HardeningWishes =>
  before?.phase === 'applying' && JSON.stringify(wishes) === JSON.stringify(NO_WISHES)
    ? before.wishes
    : wishes;

const closeFiles = async (data: string): Promise<void> => {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  for (const path of await exposedPaths(data, uid)) {
    const { mode } = await lstat(path);
    await chmod(path, mode & 0o777 & ~OTHERS_BITS);
  }
};

const stateOf = (supervisor: Supervisor, draft: HardeningDraft, wishes: HardeningWishes): HardeningState => ({
  phase: 'applying',
  startedAt: new Date(supervisor.clock.nowMs()).toISOString(),
  wishes,
  manifests: draft.manifestEdits.map(({ host, component, flags }) => ({
    host,
    component,
    flags: [...flags],
  })),
  files: draft.fileEdits.map(({ path, before, after }) => ({ path, before: before ?? null, after })),
  schedule: draft.schedule === draft.facts.schedule ? null : draft.facts.schedule,
  isEncrypting: draft.isEncrypting,
  snapshot: null,
});

/**
 * Rolls the measures out: what every host shares first, then the manifests of one host after the other, each once
 * everything is healthy. If it is interrupted, the same call resumes it.
 */
export const applyHardening = (
  supervisor: Supervisor,
  wishes: HardeningWishes,
  report: StepReport,
): Promise<HardeningOutcome> =>
  supervisor.exclusively(say('exclusive.harden'), () => apply(supervisor, wishes, report));

const apply = async (
  supervisor: Supervisor,
  asked: HardeningWishes,
  report: StepReport,
): Promise<HardeningOutcome> => {
  const { directory } = supervisor.folder;
  const before = await readHardeningState(directory);
  if (before?.phase === 'rolling-back') throw new SaidError('Busy', say('harden.rollingBack'));
  const wishes = wishesFor(asked, before);
  const { draft } = draftHardening(await hardeningFacts(directory, supervisor.config), wishes);
  const isEncrypting = draft.isEncrypting || (before?.phase === 'applying' && before.isEncrypting);
  if (isEmptyDraft(draft) && before?.phase !== 'applying')
    return { isChanged: false, hosts: [], files: [], snapshot: before?.snapshot ?? null };
  report.plan(hardeningSteps(draft, isEncrypting));
  await inStep(report, 'check', () => assertHealthy(supervisor, RESUME));
  let state = withEarlier(stateOf(supervisor, draft, wishes), before);
  await inStep(
    report,
    'snapshot',
    async () => {
      if (supervisor.config.spec.externalEtcd) return say('detail.externalEtcd');
      const isTaken = before?.phase === 'applying' && state.snapshot !== null;
      if (!isTaken) {
        const saved = await saveClusterSnapshot(supervisor, {
          report: silentReport,
          prefix: 'before-harden',
        });
        state = { ...state, snapshot: saved.file };
      }
      return verbatim(state.snapshot ?? '');
    },
    (detail) => detail,
  );
  await writeHardeningState(directory, state);
  const target = isEncrypting ? await prepareEncryption(directory, supervisor.clock.nowMs()) : undefined;
  await inStep(
    report,
    'files',
    async () => {
      if (draft.closesFiles) await closeFiles(directory);
      for (const { path, after } of draft.fileEdits) await writeFileAtomically(path, after);
      if (state.schedule !== null) await supervisor.backups.setSchedule(draft.schedule);
    },
    () => verbatim(draft.fileEdits.map(({ path }) => path).join(', ')),
  );
  const hosts = [...new Set(draft.manifestEdits.map(({ host }) => host))];
  for (const host of hosts)
    await inStep(
      report,
      host,
      async () => {
        const edits = draft.manifestEdits.filter((edit) => edit.host === host);
        for (const { component, text, after } of edits) {
          await assertHealthy(supervisor, RESUME);
          await changeManifest(supervisor, { host, component, before: text, after });
        }
        return edits.map(({ component }) => component);
      },
      (components) => verbatim(components.join(', ')),
    );
  if (target !== undefined)
    await inStep(
      report,
      'encrypt',
      async () => {
        await writeEncrypted(supervisor, target);
        return rewriteAll(supervisor, writtenPrefixes(target));
      },
      (count) => say('detail.objects', { count }),
    );
  await inStep(report, 'finish', async () => {
    await assertHealthy(supervisor, RESUME);
    await writeHardeningState(directory, { ...state, phase: 'done' });
  });
  return { isChanged: true, hosts, files: draft.fileEdits.map(({ path }) => path), snapshot: state.snapshot };
};
