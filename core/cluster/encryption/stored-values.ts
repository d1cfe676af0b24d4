import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { say, SaidError } from '../../contract/index.ts';
import { silentLog } from '../../base/log.ts';
import { loadTransformers, plainValues } from '../../apiserver/encryption/index.ts';
import type { ValueTransformer } from '../../apiserver/storage/value-transformer.ts';
import type { ClusterConfig } from '../config/config.ts';
import { encryptionFileOf } from '../data-folder/configured-file.ts';

export interface StoredValues {
  /** What an API server would read under this key. */
  plain(key: string, value: Uint8Array): Promise<Uint8Array>;
}

/** For code that reads etcd itself: values go through the transformer of the API servers. */
export const withStoredValues = async <T>(
  { data, config, clock }: { readonly data: string; readonly config: ClusterConfig; readonly clock: Clock },
  use: (values: StoredValues) => Promise<T>,
): Promise<T> => {
  const file = await encryptionFileOf(data, config);
  const loaded = file === undefined ? undefined : await loadTransformers(file, { clock, log: silentLog });
  const transformer: ValueTransformer = loaded?.transformers ?? plainValues;
  await loaded?.transformers.primed;
  try {
    return await use({
      async plain(key, value) {
        try {
          return (await transformer.fromStorage(value, key)).value;
        } catch (cause) {
          const what = say('encryption.unreadable', { key: JSON.stringify(key), why: messageOf(cause) });
          throw new SaidError('Unreadable', what, { cause });
        }
      },
    });
  } finally {
    loaded?.transformers.dispose();
  }
};
