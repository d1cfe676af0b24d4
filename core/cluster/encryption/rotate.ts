import { say, SaidError } from '../../contract/index.ts';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { configurationHash, parseEncryptionConfiguration } from '../../apiserver/encryption/index.ts';
import { adminKubeconfigFile } from '../data-folder/layout.ts';
import { etcdAccessOf } from '../etcd-operator/operations.ts';
import { PORTS } from '../manifests/control-plane.ts';
import { PREVIOUS_ENCRYPTION_FILE } from '../manifests/guard-files.ts';
import { openClusterAccess } from '../monitor/scrape/cluster-access.ts';
import { inStep, type StepReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { assertHealthy, clientOf } from '../supervisor/move.ts';
import {
  keyNames,
  withFirstKeyOnly,
  withNewKey,
  withSecondKeyFirst,
  writtenPrefixes,
} from '../data-folder/encryption-configuration.ts';
import { encryptionFileOf } from '../data-folder/configured-file.ts';
import { outdatedKeys, rewriteObjects } from './rewrite.ts';

export interface RotationOutcome {
  readonly file: string;
  /** The keys that write now, one for each rule. */
  readonly keys: readonly string[];
  readonly rewritten: number;
}

const RELOAD_TIMEOUT_MS = 60_000;
const POLL_MS = 250;
/** Objects may be written with an old key until every server has reloaded, so one look is not always enough. */
const REWRITES_MAX = 5;

const STEPS = [
  { id: 'check', title: say('step.encryption.check') },
  { id: 'add', title: say('step.encryption.add') },
  { id: 'promote', title: say('step.encryption.promote') },
  { id: 'rewrite', title: say('step.encryption.reencrypt') },
  { id: 'drop', title: say('step.encryption.drop') },
] as const;

/** Every API server says in its metrics which configuration it uses. */
export const untilLoaded = async (supervisor: Supervisor, hash: string): Promise<void> => {
  const { directory } = supervisor.folder;
  const access = openClusterAccess({
    directory,
    kubeconfigFile: adminKubeconfigFile(directory),
    etcdTls: () => etcdAccessOf(directory, supervisor.config).tls,
  });
  const deadlineMs = supervisor.clock.monotonicMs() + RELOAD_TIMEOUT_MS;
  const line = `hash="${hash}"`;
  try {
    for (const { plan } of supervisor.hosts.filter((host) => host.plan.role === 'control-plane'))
      for (;;) {
        const url = `https://${plan.address}:${PORTS.apiServer}/metrics`;
        const text = await access.ask({ url, trust: 'cluster' }).then(
          (answer) => answer.text,
          () => '',
        );
        if (text.includes(line)) break;
        if (supervisor.clock.monotonicMs() > deadlineMs)
          throw new SaidError('NotReady', say('encryption.notLoaded', { host: plan.name }));
        await supervisor.wait(POLL_MS);
      }
  } finally {
    access.dispose();
  }
};

/**
 * Replaces the keys of a running cluster, in upstream's order: every server can read with the new key before one writes
 * with it, and the old one goes when nothing is left that needs it. If it is interrupted, the next call resumes it.
 */
export const rotateEncryption = (supervisor: Supervisor, report: StepReport): Promise<RotationOutcome> =>
  supervisor.exclusively(say('exclusive.rotate'), () => rotate(supervisor, report));

const rotate = async (supervisor: Supervisor, report: StepReport): Promise<RotationOutcome> => {
  const { config, clock } = supervisor;
  const { directory } = supervisor.folder;
  report.plan(STEPS);
  const file = await inStep(report, 'check', async () => {
    await assertHealthy(supervisor, 'pilothouse encryption rotate');
    const found = await encryptionFileOf(directory, config);
    if (found !== undefined) return found;
    throw new SaidError('NotFound', say('encryption.off'));
  });
  let text = await readFile(file, 'utf8');
  const use = async (next: string): Promise<void> => {
    // What servers would reject is never written.
    parseEncryptionConfiguration(next);
    if (next !== text) await writeFileAtomically(file, next);
    text = next;
    await untilLoaded(supervisor, configurationHash(next));
  };
  const isResumed = keyNames(text).some((names) => names.length > 1);
  await inStep(
    report,
    'add',
    async () => (isResumed ? use(text) : use(withNewKey(text, clock.nowMs()))),
    () => (isResumed ? say('detail.resumed') : undefined),
  );
  await inStep(report, 'promote', async () => {
    // Names carry the time: the newest is the one to write with.
    const isNewestSecond = keyNames(text).some(([first = '', second = '']) => second > first);
    await use(isNewestSecond ? withSecondKeyFirst(text) : text);
  });
  const rewritten = await inStep(
    report,
    'rewrite',
    () => rewriteAll(supervisor, writtenPrefixes(text)),
    (count) => say('detail.objects', { count }),
  );
  await inStep(report, 'drop', async () => {
    // Snapshots that were taken before still need the old key.
    await writeFileAtomically(join(dirname(file), PREVIOUS_ENCRYPTION_FILE), text);
    await use(withFirstKeyOnly(text));
  });
  return { file, keys: keyNames(text).map(([first = '']) => first), rewritten };
};

export const rewriteAll = async (
  supervisor: Supervisor,
  rules: ReturnType<typeof writtenPrefixes>,
): Promise<number> => {
  const { config } = supervisor;
  const { directory } = supervisor.folder;
  let rewritten = 0;
  for (let round = 0; round < REWRITES_MAX; round += 1) {
    const keys = await outdatedKeys(directory, config, rules);
    if (keys.length === 0) return rewritten;
    rewritten += await rewriteObjects(clientOf(supervisor), config, keys);
  }
  throw new SaidError('Incomplete', say('encryption.incomplete'));
};
