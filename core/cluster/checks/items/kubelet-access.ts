import { readFile } from 'node:fs/promises';
import { certificatePath, readKubeconfig } from '../../../pki/index.ts';
import { kubeconfigPath } from '../../../pki/pki-folder.ts';
import { planHosts } from '../../config/hosts.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { say, together, type Said } from '../../../contract/index.ts';
import { bad, ok, type CheckItem } from '../item.ts';
import { statusFor, type ProbeTls } from '../network-probes.ts';

const NODES_ASKED_MAX = 8;
const PATHS = ['/pods', '/metrics', '/stats/summary', '/configz', '/logs/', '/runningpods/'];
/** A component that is authenticated and has no business with kubelets. */
const UNPRIVILEGED = 'scheduler.conf';

export interface KubeletProbe {
  readonly node: string;
  readonly origin: string;
  readonly anonymous: ProbeTls;
  /** Authenticated, and not allowed. */
  readonly stranger: ProbeTls;
}

/** What a kubelet tells whom it should not. */
export const kubeletFaults = async ({ node, origin, anonymous, stranger }: KubeletProbe): Promise<Said[]> => {
  const faults: Said[] = [];
  const openTo = async (tls: ProbeTls): Promise<readonly string[]> => {
    const open: string[] = [];
    for (const path of PATHS) if ((await statusFor(`${origin}${path}`, tls)) < 400) open.push(path);
    return open;
  };
  const anybody = await openTo(anonymous);
  if (anybody.length > 0)
    faults.push(say('found.kubeletAccess.anonymous', { node, paths: anybody.join(', ') }));
  const unauthorized = await openTo(stranger);
  if (unauthorized.length > 0)
    faults.push(say('found.kubeletAccess.unauthorized', { node, paths: unauthorized.join(', ') }));
  return faults;
};

export const kubeletAccess: CheckItem = {
  id: 'kubeletAccess',
  async measure({ dataDirectory, config }) {
    const ca = await readFile(certificatePath(dataDirectory, 'ca'), 'utf8');
    const file = kubeconfigPath(dataDirectory, UNPRIVILEGED);
    const { credential } = readKubeconfig(await readFile(file, 'utf8'), file);
    const stranger = { ca, cert: credential.certificatePem, key: credential.privateKeyPem };
    const nodes = planHosts(config).flatMap((host) => host.nodes);
    const asked = nodes.slice(0, NODES_ASKED_MAX);
    const found = await Promise.all(
      asked.map(async ({ name, address }) => {
        const origin = `https://${address}:${PORTS.kubelet}`;
        return kubeletFaults({ node: name, origin, anonymous: { ca }, stranger });
      }),
    );
    const faults = found.flat();
    return faults.length === 0
      ? ok(say('found.kubeletAccess.ok', { count: asked.length }))
      : bad(together(faults), say('advice.kubeletAccess'));
  },
};
