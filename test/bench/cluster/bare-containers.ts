import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { V1Container } from '../../../core/api/schema/index.ts';
import { containerConfig } from '../../../core/kubelet/runtimes/cri/container-config.ts';
import { CriClient } from '../../../core/kubelet/runtimes/cri/cri-client.ts';
import { sandboxConfig } from '../../../core/kubelet/runtimes/cri/sandbox-config.ts';
import { noObjects, pod } from '../../../core/kubelet/testing/world.ts';
import { podVolumes } from '../../../core/kubelet/volumes/pod-volumes.ts';
import type { TestContainerd } from '../../support/containerd.ts';

const MEMORY_BYTES = 2 ** 33;

/** What `crictl runp`, `create` and `start` ask a runtime for, without a kubelet; how long it takes in seconds. */
export const bareContainers = async (
  { endpoint, folder, cgroupRoot }: TestContainerd,
  spec: V1Container,
  count: number,
): Promise<number> => {
  const client = new CriClient(endpoint);
  const podLogs = join(folder, 'bare-logs');
  const sandboxes: string[] = [];
  const image = await client.image(spec.image ?? '');
  if (!image) throw new Error(`${spec.image} is not there`);
  const start = async (index: number): Promise<void> => {
    const of = pod({ containers: [spec] }, { uid: randomUUID(), name: `bare-${index}` });
    const volumes = podVolumes(() => ({ pod: of, hostIP: '', podIPs: [], allocatable: {} }), noObjects);
    const dns = { servers: [], searches: [], options: [] };
    const sandbox = { pod: of, nodeName: 'bare', hostIP: '', dns, clusterDomain: '', volumes, attempt: 0 };
    const config = sandboxConfig(sandbox, { podLogs, cgroupRoot, nodeKey: 'bare' });
    mkdirSync(join(config.logDirectory, spec.name), { recursive: true });
    const sandboxId = await client.runSandbox(config, '');
    sandboxes.push(sandboxId);
    const request = {
      pod: of,
      container: spec,
      kind: 'main' as const,
      image: { image: spec.image ?? '', imageID: image.id, sizeBytes: 0 },
      environment: new Map<string, string>(),
      attempt: 0,
      signal: new AbortController().signal,
    };
    const places = { root: folder, memoryCapacityBytes: MEMORY_BYTES };
    const container = containerConfig(request, 'bare', image, [], '', places);
    await client.startContainer(await client.createContainer(sandboxId, container, config));
  };
  try {
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: count }, (_, index) => start(index)));
    return (performance.now() - startedMs) / 1000;
  } finally {
    for (const id of sandboxes) {
      await client.stopSandbox(id).catch(() => undefined);
      await client.removeSandbox(id).catch(() => undefined);
    }
    client.close();
  }
};
