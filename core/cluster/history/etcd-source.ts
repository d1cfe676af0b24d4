import { hasReason } from '../../base/errors.ts';
import type { EtcdConnection } from '../etcd-operator/connection.ts';
import { OPERATOR } from '../etcd-operator/methods.ts';
import type { Source, StoredValue } from './source.ts';

const KEYS_PER_PAGE = 1000;
/** Values may be as large as requests: 1.5 MiB. */
const VALUES_PER_PAGE = 200;

/** The first key after all that begin with the prefix. */
const endOf = (prefix: string): Buffer => {
  const end = Buffer.from(prefix);
  end[end.length - 1] = end.at(-1)! + 1;
  return end;
};

/** etcd at one revision: all of its answers are of that moment, whatever is written meanwhile. */
export const etcdSource = async (member: EtcdConnection, atRevision?: number): Promise<Source> => {
  const { header } = await member.call(OPERATOR.range, { key: Buffer.from('/'), countOnly: true });
  const revision = atRevision ?? header?.revision ?? 0;

  async function* pages(prefix: string, keysOnly: boolean): AsyncGenerator<StoredValue> {
    const rangeEnd = endOf(prefix);
    for (let key = Buffer.from(prefix); ;) {
      const limit = keysOnly ? KEYS_PER_PAGE : VALUES_PER_PAGE;
      const page = await member.call(OPERATOR.range, { key, rangeEnd, limit, revision, keysOnly });
      for (const { key: name, value, modRevision, createRevision, version } of page.kvs)
        yield { key: Buffer.from(name).toString(), value, modRevision, createRevision, version };
      const last = page.kvs.at(-1);
      if (!page.more || last === undefined) return;
      key = Buffer.concat([last.key, Buffer.of(0)]);
    }
  }

  return {
    revision,
    keys: (prefix) => pages(prefix, true),
    values: (prefix) => pages(prefix, false),
    async read(key) {
      const { kvs } = await member.call(OPERATOR.range, { key: Buffer.from(key), revision });
      const [found] = kvs;
      if (!found) return undefined;
      const { value, modRevision, createRevision, version } = found;
      return { key, value, modRevision, createRevision, version };
    },
  };
};

/** The oldest revision that can still be read, and the newest. Asks as often as a number has bits. */
export const revisionsOf = async (
  member: EtcdConnection,
): Promise<{ readonly oldest: number; readonly newest: number }> => {
  const probe = async (revision: number): Promise<number | undefined> => {
    try {
      const { header } = await member.call(OPERATOR.range, {
        key: Buffer.from('/'),
        countOnly: true,
        revision,
      });
      return header?.revision ?? 0;
    } catch (error) {
      if (hasReason(error, 'EtcdCompacted')) return undefined;
      throw error;
    }
  };
  const newest = (await probe(0)) ?? 0;
  let [low, high] = [1, newest];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await probe(middle)) === undefined) low = middle + 1;
    else high = middle;
  }
  return { oldest: high, newest };
};
