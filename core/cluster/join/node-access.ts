import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { systemRandom } from '../../base/node/random.ts';
import { isConditionTrue } from '../../api/meta/index.ts';
import { connect, NODE, type Client } from '../../client/index.ts';
import {
  CertificateRotation,
  requestCertificate,
  type CertificateWish,
} from '../../kubelet/certificates/certificate-rotation.ts';
import { bootstrapIdentity, hasIdentity } from '../../kubelet/certificates/tls-bootstrap.ts';
import {
  inspectPem,
  kubeconfigPath,
  readKubeconfig,
  updateKubeconfig,
  writeKubeconfig,
} from '../../pki/index.ts';
import { formatToken, type BootstrapToken } from '../bootstrap-tokens/bootstrap-token.ts';
import type { DiscoveredCluster } from '../bootstrap-tokens/discovery.ts';
import { kubeletKubeconfigFile, PRIVATE_FOLDER_MODE } from '../data-folder/layout.ts';

export interface AccessContext {
  readonly data: string;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const bootstrapFile = (data: string): string => join(data, 'kubeconfig', 'bootstrap-kubelet.conf');

export const hasNodeIdentity = ({ data, nodeName, clock }: AccessContext): Promise<boolean> =>
  hasIdentity(kubeletKubeconfigFile(data, nodeName), clock.nowMs());

/** A node of this name that is alive is another machine: two would take each other's pods. */
const assertNameFree = async (client: Client, name: string): Promise<void> => {
  const node = await client.resource(NODE).find(name);
  if (node && isConditionTrue(node.status?.conditions, 'Ready'))
    throw new ReasonError(
      'NameTaken',
      `the cluster has a ready node named ${name} already; choose another name with --node-name, or delete that node first`,
    );
};

/** Has the identity of this node signed with the token, which is not kept any longer than that. */
export const signNodeIdentity = async (
  { server, authorityPem }: DiscoveredCluster,
  token: BootstrapToken,
  context: AccessContext,
): Promise<void> => {
  const { data, nodeName, clock, log, signal } = context;
  await mkdir(join(data, 'kubeconfig'), { recursive: true, mode: PRIVATE_FOLDER_MODE });
  await mkdir(join(data, 'pki'), { recursive: true, mode: PRIVATE_FOLDER_MODE });
  const file = bootstrapFile(data);
  const authority = Buffer.from(authorityPem).toString('base64');
  const [name, user] = ['kubernetes', 'tls-bootstrap-token-user'];
  const text = stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': authority } }],
    contexts: [{ name: `${user}@${name}`, context: { cluster: name, user } }],
    'current-context': `${user}@${name}`,
    users: [{ name: user, user: { token: formatToken(token) } }],
  });
  await writeFileAtomically(file, text);
  try {
    const client = connect(
      {
        servers: [server],
        authority: { data: authorityPem },
        auth: { token: formatToken(token) },
        namespace: 'default',
      },
      { clock, random: systemRandom, log, userAgent: 'pilothouse-join' },
    );
    try {
      await assertNameFree(client, nodeName);
    } finally {
      client.dispose();
    }
    const kubeconfig = kubeletKubeconfigFile(data, nodeName);
    await bootstrapIdentity({ nodeName, kubeconfig, bootstrapKubeconfig: file, clock, log, signal });
  } finally {
    await rm(file, { force: true });
  }
  await writeFileAtomically(join(data, 'pki', 'ca.crt'), authorityPem);
};

const componentWish = (commonName: string): CertificateWish => ({
  signerName: 'kubernetes.io/kube-apiserver-client',
  usages: ['digital signature', 'client auth'],
  subject: { commonName, organizations: [] },
});

const COMPONENTS = ['kube-proxy', 'kube-dns', 'network-policy'] as const;

/** Identities of what runs beside the kubelet; missing ones are signed now, all are replaced before they expire. */
export const componentIdentities = async (client: Client, context: AccessContext): Promise<Disposable> => {
  const { data, nodeName, clock, log, signal } = context;
  const owned = new DisposableStore();
  const node = kubeletKubeconfigFile(data, nodeName);
  const { server, authorityPem } = readKubeconfig(await readFile(node, 'utf8'), node);
  const ensure = async (component: string): Promise<void> => {
    const file = kubeconfigPath(data, `${component}.conf`);
    const commonName = `system:${component}`;
    const current = async (): Promise<string | undefined> =>
      existsSync(file)
        ? readKubeconfig(await readFile(file, 'utf8'), file).credential.certificatePem
        : undefined;
    const held = await current();
    if (held === undefined || inspectPem(held).notAfterMs <= clock.nowMs()) {
      const credential = await requestCertificate(componentWish(commonName), { client, clock, signal });
      const parts = { clusterName: 'kubernetes', server, authorityPem, userName: commonName, credential };
      await writeFileAtomically(file, writeKubeconfig(parts));
    }
    const save: ConstructorParameters<typeof CertificateRotation>[0]['save'] = async (credential) =>
      writeFileAtomically(file, updateKubeconfig(await readFile(file, 'utf8'), file, { credential }));
    const wish = componentWish(commonName);
    const rotation = new CertificateRotation({
      clock,
      random: systemRandom,
      log,
      client,
      wish,
      current,
      save,
    });
    owned.add(rotation).start();
  };
  await Promise.all(COMPONENTS.map(ensure));
  return owned;
};
