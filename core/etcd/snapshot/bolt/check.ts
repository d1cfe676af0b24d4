import { malformed } from '../failure.ts';
import { freePageIds } from './freelist.ts';
import { overflowOf } from './page.ts';
import { openBucket, type BoltBucket, type BoltReader } from './reader.ts';

/** One bit a page: 8 GiB of database, the most that etcd recommends, take 256 KiB. */
const pageSet = (pageCount: number) => {
  const bits = new Uint8Array(Math.ceil(pageCount / 8));
  return {
    has: (id: number): boolean => (bits[id >>> 3]! & (1 << (id & 7))) !== 0,
    add: (id: number): void => {
      bits[id >>> 3]! |= 1 << (id & 7);
    },
  };
};

/**
 * What `bbolt check` demands: every page is reached exactly once or is free, never both, and keys are in
 * order in and across pages. Throws at the first violation. `etcdctl snapshot status` runs the same check.
 */
export const checkBolt = async (bolt: BoltReader): Promise<void> => {
  const { meta, pages } = bolt;
  const { pageCount } = meta;
  const freed = pageSet(pageCount);
  const reached = pageSet(pageCount);

  const reach = (id: number, bytes: Uint8Array): void => {
    for (let part = id; part <= id + overflowOf(bytes); part += 1) {
      if (reached.has(part)) throw malformed(`page ${part}`, 'is referenced more than once');
      if (freed.has(part)) throw malformed(`page ${part}`, 'is in use and in the freelist');
      reached.add(part);
    }
  };

  if (meta.freelistPage !== undefined) {
    const bytes = await pages.page(meta.freelistPage, 'meta page');
    const where = `freelist page ${meta.freelistPage}`;
    for (const id of freePageIds(bytes, where)) {
      if (id < 2 || id >= pageCount)
        throw malformed(where, `lists page ${id}, outside of 2 to ${pageCount - 1}`);
      if (freed.has(id)) throw malformed(where, `lists page ${id} twice`);
      freed.add(id);
    }
    reach(meta.freelistPage, bytes);
  }

  // Every waiting bucket has its own entry in the file, and `reach` refuses to visit a root page again.
  const waiting: BoltBucket[] = [bolt.root];
  for (let bucket = waiting.pop(); bucket !== undefined; bucket = waiting.pop()) {
    for await (const elements of bucket.leaves(reach)) {
      for (const element of elements) {
        if (!element.isBucket) continue;
        if (typeof bucket.root !== 'number') throw malformed('inline bucket', 'contains another bucket');
        waiting.push(openBucket(pages, element));
      }
    }
  }

  // Without a stored freelist, bbolt itself takes every unreached page as free.
  if (meta.freelistPage === undefined) return;
  for (let id = 2; id < pageCount; id += 1) {
    if (!reached.has(id) && !freed.has(id)) throw malformed(`page ${id}`, 'is neither in use nor free');
  }
};
