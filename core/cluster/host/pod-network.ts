import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import type { CriRuntime } from '../../kubelet/runtimes/cri/cri-runtime.ts';

const READY_POLL_MS = 100;
const READY_WAIT_MS = 10_000;
/** Debian's and upstream's places of iptables, which masquerading and host ports need. */
const hasIptables = (): boolean => ['/usr/sbin/iptables', '/sbin/iptables'].some((path) => existsSync(path));

/** A bridge that all pods of this machine are on, whose own address is their way to Services and to other networks. */
export const podNetworkConfig = (bridge: string, range: string, isMasqueraded: boolean) => ({
  cniVersion: '0.4.0',
  name: `pilothouse-${bridge}`,
  plugins: [
    {
      type: 'bridge',
      bridge,
      isGateway: true,
      hairpinMode: true,
      ipMasq: isMasqueraded,
      ipam: { type: 'host-local', ranges: [[{ subnet: range }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
    ...(isMasqueraded ? [{ type: 'portmap', capabilities: { portMappings: true } }] : []),
  ],
});

/**
 * Gives a runtime without any network one for pods, as a network add-on does. One that is there stays: its nodes are not
 * ready for as long as the runtime has no use for it, and say why.
 */
export const ensurePodNetwork = async (
  runtime: Pick<CriRuntime, 'status'>,
  options: { readonly bridge: string; readonly range: string; readonly clock: Clock; readonly log: Log },
): Promise<void> => {
  const { bridge, range, clock, log } = options;
  const { networkProblem, networkFolder } = await runtime.status();
  if (networkProblem === undefined) return;
  const found = (await readdir(networkFolder).catch(() => [])).filter((file) =>
    /\.(conf|conflist|json)$/.test(file),
  );
  if (found.length > 0) {
    log.write('warn', 'the container runtime does not use its network', { networkFolder, networkProblem });
    return;
  }
  await mkdir(networkFolder, { recursive: true });
  const file = join(networkFolder, '10-pilothouse.conflist');
  await writeFileAtomically(
    file,
    `${JSON.stringify(podNetworkConfig(bridge, range, hasIptables()), null, 2)}\n`,
  );
  log.write('info', 'gave the container runtime a network for pods', { file, range });
  const deadlineMs = clock.monotonicMs() + READY_WAIT_MS;
  while ((await runtime.status()).networkProblem !== undefined && clock.monotonicMs() < deadlineMs)
    await new Promise<void>((resolve) => clock.after(READY_POLL_MS, resolve));
};
