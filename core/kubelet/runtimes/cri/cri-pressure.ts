import { readdir, readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1Pod } from '../../../api/schema/index.ts';
import type { PressureSource } from '../../eviction/eviction-manager.ts';
import type { Observed, PodNeed, Signal } from '../../eviction/pressure.ts';
import type { CriClient } from './cri-client.ts';
import type { ImageStore } from './image-store.ts';
import { podLogFolder } from './sandbox-config.ts';

const BLOCK_BYTES = 512;
/** Of one volume; one with more files counts as what has been seen of it. */
const FILES_MAX = 100_000;

/** As upstream: what is not in use, and pages of files that the kernel gives back on its own. */
export const memoryOf = (meminfo: string): Observed => {
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo)?.[1] ?? 0) * 1024;
  return { available: bytes('MemFree') + bytes('Inactive\\(file\\)'), capacity: bytes('MemTotal') };
};

/** Links are not followed, and what is gone meanwhile counts nothing. */
export const diskBytesBelow = async (folder: string): Promise<number> => {
  let total = 0;
  let seen = 0;
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      if ((seen += 1) > FILES_MAX) return total;
      const path = join(next, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile())
        total += ((await stat(path).catch(() => undefined))?.blocks ?? 0) * BLOCK_BYTES;
    }
  }
  return total;
};

/** The machine and the pods on it, as the kernel and a container runtime tell of them. */
export const criPressure = (of: {
  readonly client: CriClient;
  readonly images: ImageStore;
  readonly labels: Readonly<Record<string, string>>;
  /** `--root-dir` and `--pod-logs-dir` */
  readonly root: string;
  readonly podLogs: string;
  emptyDirOf(pod: V1Pod, volume: string): string;
}): PressureSource => {
  const disk = async (path: string) => {
    const { bavail, blocks, bsize, ffree, files } = await statfs(path);
    return {
      bytes: { available: bavail * bsize, capacity: blocks * bsize },
      // File systems that have no table of inodes say 0.
      inodes: files === 0 ? undefined : { available: ffree, capacity: files },
    };
  };
  const need = async (pod: V1Pod, usage: Awaited<ReturnType<CriClient['podUsage']>>): Promise<PodNeed> => {
    const own = usage.filter(({ podUid }) => podUid === pod.metadata?.uid);
    const containers = await Promise.all(
      own.map(async ({ name, memoryBytes, layerBytes }) => {
        const logs = await diskBytesBelow(join(of.podLogs, podLogFolder(pod), name));
        return { name, memoryBytes, diskBytes: layerBytes + logs };
      }),
    );
    const emptyDirs = new Map<string, number>();
    for (const { name, emptyDir } of pod.spec?.volumes ?? [])
      if (emptyDir && emptyDir.medium !== 'Memory')
        emptyDirs.set(name, await diskBytesBelow(of.emptyDirOf(pod, name)));
    return { containers, emptyDirs };
  };
  return {
    async observe() {
      const found = new Map<Signal, Observed>();
      found.set('memory.available', memoryOf(await readFile('/proc/meminfo', 'utf8')));
      const places = [
        ['nodefs', of.root],
        ['imagefs', await of.client.imageFolder().catch(() => undefined)],
      ] as const;
      for (const [name, place] of places) {
        const seen = place === undefined ? undefined : await disk(place).catch(() => undefined);
        if (!seen) continue;
        found.set(`${name}.available`, seen.bytes);
        if (seen.inodes) found.set(`${name}.inodesFree`, seen.inodes);
      }
      return found;
    },
    async needs(pods) {
      const usage = await of.client.podUsage(of.labels);
      const all = await Promise.all(
        pods.map(async (pod) => [pod.metadata?.uid ?? '', await need(pod, usage)] as const),
      );
      return new Map(all);
    },
    freeImages: () => of.images.removeUnused(),
  };
};
