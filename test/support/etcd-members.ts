import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificates } from './etcd-certificates.ts';
import { EtcdCluster } from './etcd-cluster.ts';
import { etcdctlFor, type Etcdctl } from './etcd-ctl.ts';

export interface OperatedMembers {
  readonly directory: string;
  readonly cluster: EtcdCluster;
  readonly ctl: Etcdctl;
  close(): Promise<void>;
}

/** Members of ours over mTLS that are healthy, in a directory of their own, and an `etcdctl` for all of them. */
export const startMembers = async (options: {
  readonly octet: number;
  readonly size: number;
  readonly extraFlags?: readonly string[];
}): Promise<OperatedMembers> => {
  const { octet, size, extraFlags = [] } = options;
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-members-'));
  const certificates = makeCertificates(join(directory, 'pki'), octet);
  const cluster = new EtcdCluster({
    flavour: 'pilothouse',
    size,
    octet,
    directory: join(directory, 'members'),
    certificates,
    extraFlags,
  });
  cluster.start();
  await cluster.healthy();
  const ctl = etcdctlFor(() => cluster.endpoints.slice(0, size), certificates);
  return {
    directory,
    cluster,
    ctl,
    close: async () => {
      await ctl.close();
      await cluster.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
