import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { assert } from '../../base/assert.ts';
import { inIpv4Range, parseIpv4Range } from '../../base/bind-rules.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { systemRandom } from '../../base/node/random.ts';
import { thisMachine } from '../../kubelet/node/machine.ts';
import { CriRuntime } from '../../kubelet/runtimes/cri/cri-runtime.ts';
import { certificatePath } from '../../pki/index.ts';
import { PodFirewall, type PodFirewallOptions } from '../../policy-agent/index.ts';
import { hostFolder } from '../data-folder/layout.ts';
import { networkOf } from './host-network.ts';
import type { HostStart } from './messages.ts';
import type { NodeRuntimes } from './node-runtimes.ts';
import { ensurePodNetwork } from './pod-network.ts';

/** Enough of an identity to tell clusters of one machine apart. */
const CLUSTER_CHARACTERS = 8;

/** One connection to a container runtime for each node, whose pods it finds by the cluster and the name of the node. */
export const openCriRuntimes = async (
  start: HostStart,
  { clock, log, connect }: Pick<PodFirewallOptions, 'clock' | 'log' | 'connect'>,
): Promise<NodeRuntimes> => {
  const { host, dataDirectory, runtimeEndpoints } = start;
  const { bridge } = networkOf(start);
  const owned = new DisposableStore();
  const folder = hostFolder(dataDirectory, host.name);
  const authority = await readFile(certificatePath(dataDirectory, 'ca'));
  const clusterId = createHash('sha256').update(authority).digest('hex').slice(0, 16);
  const runtimes = new Map<string, CriRuntime>();
  const local = parseIpv4Range(bridge.range)!;
  const firewall = owned.add(
    new PodFirewall({
      bridge: bridge.name,
      cluster: clusterId.slice(0, CLUSTER_CHARACTERS),
      host: host.name,
      isLocal: (address) => inIpv4Range(local, address),
      nodeNames: host.nodes.map(({ name }) => name),
      ...{ clock, log, connect, random: systemRandom },
    }),
  );
  try {
    for (const [index, { name: nodeName }] of host.nodes.entries()) {
      const runtime = await CriRuntime.connect({
        endpoint: runtimeEndpoints[index % runtimeEndpoints.length]!,
        nodeName,
        clusterId,
        clock,
        log,
        root: join(folder, 'kubelet', nodeName),
        podLogs: join(folder, 'pod-logs', nodeName),
        cgroupRoot: `/pilothouse-${clusterId}`,
        memoryCapacityBytes: totalmem(),
        firewall,
      });
      runtimes.set(nodeName, owned.add(runtime));
      if (index < runtimeEndpoints.length)
        await ensurePodNetwork(runtime, { bridge: bridge.name, range: bridge.range, clock, log });
    }
  } catch (error) {
    owned.dispose();
    throw error;
  }
  firewall.start();
  return {
    machine: await thisMachine(folder, { shares: start.machineNodes }),
    of: (nodeName) => {
      const runtime = runtimes.get(nodeName);
      assert(runtime, `${nodeName} is a node of this host`);
      return runtime;
    },
    dispose: () => owned.dispose(),
  };
};
