import type { ClusterConfig } from '../config/config.ts';
import { consoleKubeconfigFile } from '../data-folder/layout.ts';
import { etcdAccessOf } from '../etcd-operator/operations.ts';
import { openClusterAccess } from '../monitor/scrape/cluster-access.ts';
import { bucketsBetween, quantileOf } from '../monitor/scrape/quantile.ts';
import { readMeasures } from '../monitor/scrape/reading.ts';
import { targetsOf } from '../monitor/scrape/targets.ts';

const HIGH = 0.99;
const PAUSE_MS = 2_000;

export interface DiskEvidence {
  readonly fsyncSeconds: ReadonlyMap<string, number>;
  readonly quotaBytes: number | null;
}

/**
 * How long members take to write their log, over two seconds: what happened since their start says little of now. Leases
 * are renewed all the time, so there are writes to measure.
 */
export const fsyncOf = async (data: string, config: ClusterConfig): Promise<DiskEvidence> => {
  const access = openClusterAccess({
    directory: data,
    kubeconfigFile: consoleKubeconfigFile(data),
    etcdTls: () => etcdAccessOf(data, config).tls,
  });
  const targets = targetsOf(config).filter(({ component }) => component === 'etcd');
  const read = () =>
    Promise.all(
      targets.map(async ({ component, instance, urls, trust }) => {
        try {
          const pages = await Promise.all(urls.map(async (url) => (await access.ask({ url, trust })).text));
          return [instance, readMeasures(component, pages, 0)] as const;
        } catch {
          // A member that is down is found by its own tree.
          return [instance, undefined] as const;
        }
      }),
    );
  try {
    const before = new Map(await read());
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const now = await read();
    const fsyncSeconds = new Map<string, number>();
    let quotaBytes: number | null = null;
    for (const [instance, reading] of now) {
      quotaBytes = reading?.numbers.get('etcdQuotaBytes') ?? quotaBytes;
      const buckets = reading?.histograms.get('etcdFsync');
      if (!buckets) continue;
      const seconds = quantileOf(
        bucketsBetween(before.get(instance)?.histograms.get('etcdFsync'), buckets),
        HIGH,
      );
      if (seconds !== undefined && Number.isFinite(seconds)) fsyncSeconds.set(instance, seconds);
    }
    return { fsyncSeconds, quotaBytes };
  } finally {
    access.dispose();
  }
};
