import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { parseEncryptionConfiguration } from '../../apiserver/encryption/index.ts';
import type { EncryptionView } from '../../contract/index.ts';
import type { ClusterConfig } from '../config/config.ts';
import { PREVIOUS_ENCRYPTION_FILE } from '../manifests/guard-files.ts';
import { describeKeys, writtenPrefixes } from '../data-folder/encryption-configuration.ts';
import { encryptionFileOf } from '../data-folder/configured-file.ts';

const NOTHING: EncryptionView = { file: '', resources: [], keys: [], previousFile: '', problem: '' };

const PROVIDER = /^k8s:enc:([^:]+):/;

/** How values of this cluster are encrypted, with the names of the keys and not the keys. */
export const viewEncryption = async (data: string, config: ClusterConfig): Promise<EncryptionView> => {
  const file = await encryptionFileOf(data, config);
  if (file === undefined) return NOTHING;
  const previous = join(dirname(file), PREVIOUS_ENCRYPTION_FILE);
  const previousFile = existsSync(previous) ? previous : '';
  try {
    const text = await readFile(file, 'utf8');
    parseEncryptionConfiguration(text);
    return {
      file,
      resources: writtenPrefixes(text).map(({ resource, prefix }) => ({
        resource,
        prefix,
        provider: PROVIDER.exec(prefix)?.[1] ?? 'identity',
      })),
      keys: [...describeKeys(text)],
      previousFile,
      problem: '',
    };
  } catch (error) {
    return { ...NOTHING, file, previousFile, problem: messageOf(error) };
  }
};
