import { say, SaidError } from '../../contract/index.ts';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { manifestsFolder } from '../data-folder/layout.ts';
import { ENCRYPTION_CONFIG_FILE } from '../manifests/guard-files.ts';
import { inData } from '../manifests/static-pod.ts';
import { inStep, type StepReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { changeManifest } from '../flags/change-manifest.ts';
import { withFlags, type FlagChange } from '../flags/with-flags.ts';
import { assertHealthy } from '../supervisor/move.ts';
import {
  keyNames,
  newEncryptionYaml,
  withKeysFirst,
  withPlainFirst,
  writtenPrefixes,
} from '../data-folder/encryption-configuration.ts';
import { encryptionFileOf } from '../data-folder/configured-file.ts';
import { configurationHash } from '../../apiserver/encryption/index.ts';
import { rewriteAll, untilLoaded, type RotationOutcome } from './rotate.ts';

/** What an API server is told to encrypt. */
export const ENCRYPTION_FLAGS: readonly FlagChange[] = [
  { name: 'encryption-provider-config', value: inData(ENCRYPTION_CONFIG_FILE) },
  { name: 'encryption-provider-config-automatic-reload', value: 'true' },
];

/**
 * Writes the configuration with which servers read encrypted values and still write plain ones. Returns the one that
 * they write with later. A file that an interrupted call left is used again.
 */
export const prepareEncryption = async (data: string, nowMs: number): Promise<string> => {
  const file = join(data, ENCRYPTION_CONFIG_FILE);
  if (existsSync(file)) return withKeysFirst(await readFile(file, 'utf8'));
  const target = newEncryptionYaml(nowMs);
  await writeFileAtomically(file, withPlainFirst(target));
  return target;
};

/** Once every API server has the configuration: writes with its keys, and encrypts what is stored. */
export const writeEncrypted = async (supervisor: Supervisor, target: string): Promise<void> => {
  await writeFileAtomically(join(supervisor.folder.directory, ENCRYPTION_CONFIG_FILE), target);
  await untilLoaded(supervisor, configurationHash(target));
};

/** Writes plain values again, and decrypts what is stored. API servers can lose the keys after it. */
export const decryptAll = async (supervisor: Supervisor): Promise<number> => {
  const file = join(supervisor.folder.directory, ENCRYPTION_CONFIG_FILE);
  const plain = withPlainFirst(await readFile(file, 'utf8'));
  await writeEncrypted(supervisor, plain);
  return rewriteAll(supervisor, writtenPrefixes(plain));
};

/**
 * Turns encryption of Secrets on for a cluster that was created without: API servers get the flag one after the other,
 * then all Secrets are written again. Servers without the key cannot read what others encrypt, so the first round gives
 * every server the key for reading, and only then it writes.
 */
export const enableEncryption = (supervisor: Supervisor, report: StepReport): Promise<RotationOutcome> =>
  supervisor.exclusively(say('exclusive.encrypt'), () => enable(supervisor, report));

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
    await assertHealthy(supervisor, 'pilothouse encryption enable');
    const found = await encryptionFileOf(directory, config);
    if (found !== undefined && found !== join(directory, ENCRYPTION_CONFIG_FILE))
      throw new SaidError('AlreadyExists', say('encryption.configured', { file: found }));
  });
  const file = join(directory, ENCRYPTION_CONFIG_FILE);
  const target = await prepareEncryption(directory, clock.nowMs());
  for (const { plan } of hosts)
    await inStep(report, plan.name, async () => {
      const { name: host } = plan;
      const before = await readFile(join(manifestsFolder(directory, host), 'kube-apiserver.yaml'), 'utf8');
      const after = withFlags(before, ENCRYPTION_FLAGS);
      await changeManifest(supervisor, { host, component: 'kube-apiserver', before, after });
    });
  await inStep(report, 'write', () => writeEncrypted(supervisor, target));
  const rewritten = await inStep(
    report,
    'rewrite',
    () => rewriteAll(supervisor, writtenPrefixes(target)),
    (count) => say('detail.objects', { count }),
  );
  return { file, keys: keyNames(target).map(([first = '']) => first), rewritten };
};
