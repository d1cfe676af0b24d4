import { say } from '../../contract/index.ts';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument, isSeq } from 'yaml';
import { ReasonError } from '../../base/errors.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { manifestsFolder } from '../data-folder/layout.ts';
import { ENCRYPTION_CONFIG_FILE } from '../manifests/guard-files.ts';
import { inData } from '../manifests/static-pod.ts';
import { inStep, type StepReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { assertHealthy, withoutClients } from '../upgrade/move.ts';
import { writeManifest } from '../upgrade/manifest-image.ts';
import {
  keyNames,
  newEncryptionYaml,
  withKeysFirst,
  withPlainFirst,
  writtenPrefixes,
} from './configuration-file.ts';
import { encryptionFileOf } from './configured-file.ts';
import { configurationHash } from '../../apiserver/encryption/index.ts';
import { rewriteAll, untilLoaded, type RotationOutcome } from './rotate.ts';

const READY_TIMEOUT_MS = 120_000;

/** Flags are added at the end of the command; those that are given stay. */
export const withFlags = (manifest: string, flags: Readonly<Record<string, string>>): string => {
  const document = parseDocument(manifest);
  const command = document.getIn(['spec', 'containers', 0, 'command']);
  if (!isSeq(command)) throw new ReasonError('BadManifest', 'the manifest has no command');
  const words = command.toJSON() as string[];
  for (const [name, value] of Object.entries(flags))
    if (!words.some((word) => word.startsWith(`--${name}=`))) command.add(`--${name}=${value}`);
  return document.toString({ lineWidth: 0 });
};

/**
 * Turns encryption of Secrets on for a cluster that was created without: API servers get the flag one after the other,
 * then all Secrets are written again. Servers without the key cannot read what others encrypt, so the first round gives
 * every server the key for reading, and only then it writes.
 */
export const enableEncryption = (supervisor: Supervisor, report: StepReport): Promise<RotationOutcome> =>
  supervisor.exclusively('turning on encryption at rest', () => enable(supervisor, report));

const enable = async (supervisor: Supervisor, report: StepReport): Promise<RotationOutcome> => {
  const { config, clock } = supervisor;
  const { directory } = supervisor.folder;
  const hosts = supervisor.hosts.filter(({ plan }) => plan.role === 'control-plane');
  report.plan([
    { id: 'check', title: say('step.encryption.check') },
    ...hosts.map(({ plan: { name } }) => ({
      id: name,
      title: say('step.encryption.restart', { host: name }),
    })),
    { id: 'write', title: say('step.encryption.write') },
    { id: 'rewrite', title: say('step.encryption.encrypt') },
  ]);
  await inStep(report, 'check', async () => {
    await assertHealthy(supervisor, 'run pilothouse encryption enable again');
    const found = await encryptionFileOf(directory, config);
    if (found !== undefined && found !== join(directory, ENCRYPTION_CONFIG_FILE))
      throw new ReasonError('AlreadyExists', `encryption at rest is configured in ${found}`);
  });
  const file = join(directory, ENCRYPTION_CONFIG_FILE);
  const isResumed = existsSync(file);
  const target = isResumed ? withKeysFirst(await readFile(file, 'utf8')) : newEncryptionYaml(clock.nowMs());
  if (!isResumed) await writeFileAtomically(file, withPlainFirst(target));
  for (const host of hosts)
    await inStep(report, host.plan.name, async () => {
      const { name } = host.plan;
      const path = join(manifestsFolder(directory, name), 'kube-apiserver.yaml');
      const before = await readFile(path, 'utf8');
      const after = withFlags(before, {
        'encryption-provider-config': inData(ENCRYPTION_CONFIG_FILE),
        'encryption-provider-config-automatic-reload': 'true',
      });
      if (after === before) return;
      await withoutClients(supervisor, host);
      await writeManifest(directory, name, 'kube-apiserver', after);
      const isStopped = await host.until(
        () => host.component('kube-apiserver')?.phase !== 'ready',
        READY_TIMEOUT_MS,
      );
      const isReady = await host.until(
        () => host.component('kube-apiserver')?.phase === 'ready',
        READY_TIMEOUT_MS,
      );
      if (isStopped && isReady) return;
      await writeManifest(directory, name, 'kube-apiserver', before);
      throw new ReasonError(
        'NotReady',
        `the API server on ${name} did not become ready with encryption at rest; its manifest was reverted`,
      );
    });
  await inStep(report, 'write', async () => {
    await writeFileAtomically(file, target);
    await untilLoaded(supervisor, configurationHash(target));
  });
  const rewritten = await inStep(
    report,
    'rewrite',
    () => rewriteAll(supervisor, writtenPrefixes(target)),
    (count) => say('detail.objects', { count }),
  );
  return { file, keys: keyNames(target).map(([first = '']) => first), rewritten };
};
