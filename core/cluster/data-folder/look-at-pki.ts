import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { say, SaidError, type Said } from '../../contract/index.ts';
import {
  AUTHORITIES,
  certificatePath,
  keyPath,
  kubeconfigPath,
  planLeaves,
  readKubeconfig,
  type LeafPlan,
} from '../../pki/index.ts';
import type { ClusterConfig } from '../config/config.ts';
import { pkiSpecOf } from './create.ts';

const SERVICE_ACCOUNTS = 'sa';

const bad = (
  what: 'missing' | 'certificate' | 'key' | 'kubeconfig',
  file: string,
  remedy: Said,
  cause?: unknown,
): SaidError<'BadPki'> => new SaidError('BadPki', say(`pki.${what}`, { file, remedy }), { cause });

const textOf = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

const certificateOf = (file: string, text: string, remedy: Said): X509Certificate => {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw bad('certificate', file, remedy, cause);
  }
};

const keyOf = (file: string, text: string, remedy: Said): ReturnType<typeof createPrivateKey> => {
  try {
    return createPrivateKey(text);
  } catch (cause) {
    throw bad('key', file, remedy, cause);
  }
};

/** A certificate and its key, each where it is there; false where both are and do not belong together. */
const isWhole = async (data: string, base: string, remedy: Said): Promise<boolean> => {
  const [certFile, keyFile] = [certificatePath(data, base), keyPath(data, base)];
  const [certText, keyText] = await Promise.all([textOf(certFile), textOf(keyFile)]);
  const certificate = certText === undefined ? undefined : certificateOf(certFile, certText, remedy);
  const key = keyText === undefined ? undefined : keyOf(keyFile, keyText, remedy);
  return !certificate || !key || certificate.checkPrivateKey(key);
};

const lookAtLeaf = async (data: string, { target }: LeafPlan): Promise<void> => {
  if (target.kind === 'files') {
    const { base } = target;
    const pair = { certificate: `pki/${base}.crt`, key: `pki/${base}.key` };
    if (await isWhole(data, base, say('pki.remedy.deletePair', pair))) return;
    // A renewal was cut off between the two files; neither is of use without its other half.
    await rm(certificatePath(data, base), { force: true });
    await rm(keyPath(data, base), { force: true });
    return;
  }
  const file = kubeconfigPath(data, target.file);
  const text = await textOf(file);
  if (text === undefined) return;
  try {
    readKubeconfig(text, file);
  } catch (cause) {
    throw bad('kubeconfig', file, say('pki.remedy.delete'), cause);
  }
};

/**
 * What is there below `pki/` can be read, before any component has to say so again and again. What is missing is told,
 * or made, elsewhere. Of an authority that is being rotated there are two certificates to one key.
 */
export const lookAtPki = async (data: string, config: ClusterConfig): Promise<void> => {
  for (const { base } of Object.values(AUTHORITIES)) await isWhole(data, base, say('pki.remedy.restore'));
  await Promise.all(planLeaves(pkiSpecOf(config)).map((plan) => lookAtLeaf(data, plan)));
};

/** The one key that nothing can make again: tokens of service accounts are signed with it. */
export const assertServiceAccountKey = async (data: string): Promise<void> => {
  const file = keyPath(data, SERVICE_ACCOUNTS);
  const text = await textOf(file);
  const remedy = say('pki.remedy.serviceAccounts');
  if (text === undefined) throw bad('missing', file, remedy);
  keyOf(file, text, remedy);
};
