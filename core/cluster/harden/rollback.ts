import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { say, SaidError, verbatim } from '../../contract/index.ts';
import { manifestsFolder } from '../data-folder/layout.ts';
import { decryptAll } from '../encryption/enable.ts';
import { encryptionFileOf } from '../data-folder/configured-file.ts';
import { changeManifest } from '../flags/change-manifest.ts';
import { withFlags } from '../flags/with-flags.ts';
import { ENCRYPTION_CONFIG_FILE, PREVIOUS_ENCRYPTION_FILE } from '../manifests/guard-files.ts';
import { inStep, type StepReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { assertHealthy } from '../supervisor/move.ts';
import { commandIn, givenValue } from './draft.ts';
import type { HardeningOutcome } from './apply.ts';
import { forgetHardening, readHardeningState, writeHardeningState, type HardeningState } from './state.ts';

const RESUME = 'pilothouse harden rollback';

type Flags = HardeningState['manifests'][number]['flags'];

/** The previous flags. A flag that somebody has changed since stays. */
export const withoutHardening = (text: string, flags: Flags): string => {
  const command = commandIn(text);
  return withFlags(
    text,
    flags
      .filter(({ name, after }) => (givenValue(command, name) ?? null) === after)
      .map(({ name, before }) => ({ name, value: before })),
  );
};

/** Files that somebody has changed since stay; their paths are returned. */
const restoreFiles = async (files: HardeningState['files']): Promise<readonly string[]> => {
  const kept: string[] = [];
  for (const { path, before, after } of files) {
    const now = await readFile(path, 'utf8').catch(() => undefined);
    if (now !== after) kept.push(path);
    else if (before === null) await rm(path, { force: true });
    else await writeFileAtomically(path, before);
  }
  return kept;
};

/** Takes the last hardening back, complete or not. If it is interrupted, the same call resumes it. */
export const rollbackHardening = (supervisor: Supervisor, report: StepReport): Promise<HardeningOutcome> =>
  supervisor.exclusively(say('exclusive.hardenRollback'), () => rollback(supervisor, report));

const rollback = async (supervisor: Supervisor, report: StepReport): Promise<HardeningOutcome> => {
  const { directory } = supervisor.folder;
  const found = await readHardeningState(directory);
  if (!found) throw new SaidError('NotFound', say('harden.notApplied'));
  const state: HardeningState = { ...found, phase: 'rolling-back' };
  const hosts = [...new Set(state.manifests.map(({ host }) => host))].reverse();
  report.plan([
    { id: 'check', title: say('step.harden.check') },
    ...(state.isEncrypting ? [{ id: 'decrypt', title: say('step.harden.decrypt') }] : []),
    ...hosts.map((host) => ({ id: host, title: say('step.harden.host', { host }) })),
    { id: 'files', title: say('step.harden.restore') },
  ]);
  await inStep(report, 'check', () => assertHealthy(supervisor, RESUME));
  await writeHardeningState(directory, state);
  const ownFile = join(directory, ENCRYPTION_CONFIG_FILE);
  if (state.isEncrypting)
    await inStep(
      report,
      'decrypt',
      async () =>
        (await encryptionFileOf(directory, supervisor.config)) === ownFile ? decryptAll(supervisor) : 0,
      (count) => say('detail.objects', { count }),
    );
  for (const host of hosts)
    await inStep(
      report,
      host,
      async () => {
        const edits = state.manifests.filter((edit) => edit.host === host).reverse();
        for (const { component, flags } of edits) {
          const before = await readFile(join(manifestsFolder(directory, host), `${component}.yaml`), 'utf8');
          await assertHealthy(supervisor, RESUME);
          await changeManifest(supervisor, {
            host,
            component,
            before,
            after: withoutHardening(before, flags),
          });
        }
        return edits.map(({ component }) => component);
      },
      (components) => verbatim(components.join(', ')),
    );
  await inStep(
    report,
    'files',
    async () => {
      const kept = await restoreFiles(state.files);
      // Older snapshots still need its keys.
      if (state.isEncrypting && (await encryptionFileOf(directory, supervisor.config)) === undefined)
        await rename(ownFile, join(directory, PREVIOUS_ENCRYPTION_FILE)).catch(
          (error: NodeJS.ErrnoException) => {
            if (error.code !== 'ENOENT') throw error;
          },
        );
      if (state.schedule !== null) await supervisor.backups.setSchedule(state.schedule);
      await forgetHardening(directory);
      return kept;
    },
    (kept) => (kept.length > 0 ? say('detail.harden.kept', { files: kept.join(', ') }) : undefined),
  );
  return { isChanged: true, hosts, files: state.files.map(({ path }) => path), snapshot: state.snapshot };
};
