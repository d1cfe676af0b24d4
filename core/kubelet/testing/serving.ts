import https from 'node:https';
import { systemClock } from '../../base/node/clock.ts';
import { silentLog } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { seededRandom } from '../../base/random.ts';
import type { V1ConfigMap, V1Pod } from '../../api/schema/index.ts';
import { CONFIG_MAP, InformerFactory, POD } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../pki/index.ts';
import { allowList } from '../server/auth.ts';
import { createKubeletHost } from '../kubelet-host.ts';
import { KubeletServer } from '../server/kubelet-server.ts';
import { ContentClient } from '../runtimes/simulated/content/content-client.ts';
import { localContent } from '../runtimes/simulated/content/content-channel.ts';
import { rangeAddresses } from '../runtimes/simulated/pod-addresses.ts';
import { SimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts';

const HOST = '127.80.0.1';
const clock = systemClock;

export interface Serving {
  readonly port: number;
  readonly host: string;
  /** How the API server connects. */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
  /** Of somebody whom the authority knows and no one allows. */
  readonly strangerTls: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly api: FakeApi;
  podOf(name: string): V1Pod;
  get(
    path: string,
    tls?: Serving['tls'] | { readonly ca: string },
  ): Promise<{ status: number; body: string }>;
  stop(): Promise<void>;
}

const until = async (condition: () => boolean): Promise<void> => {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 500) throw new Error('the pods of the test did not come up');
    await new Promise((resolve) => clock.after(10, () => resolve(undefined)));
  }
};

/** A real kubelet server on loopback with real TLS, over simulated pods and a fake API. */
export const serving = async (
  pods: readonly V1Pod[],
  configMaps: readonly V1ConfigMap[] = [],
): Promise<Serving> => {
  const authority = createAuthority({ commonName: 'kubernetes', clock });
  const signer = openAuthority(authority);
  const issue = (commonName: string, organizations: string[], usage: 'client' | 'server') => {
    const leaf = issueLeaf(signer, {
      subject: { commonName, organizations },
      usages: [usage],
      clock,
      ...(usage === 'server' && { alternativeNames: alternativeNames([HOST]) }),
    });
    return { ca: authority.certificatePem, cert: leaf.certificatePem, key: leaf.privateKeyPem };
  };
  const api = new FakeApi();
  for (const configMap of configMaps) api.seed(CONFIG_MAP, configMap);
  for (const pod of pods) api.seed(POD, pod);
  const registry = new Registry();
  const random = seededRandom(7);
  const informers = new InformerFactory({ client: api.client(), clock, random, log: silentLog });
  const content = new ContentClient({ clock, open: localContent(clock) });
  // Files that serve run side by side, each in a process of its own.
  const addresses = rangeAddresses(`127.80.${1 + (process.pid % 250)}.0/24`);
  const kubelets = createKubeletHost({
    clock,
    random,
    log: silentLog,
    registry,
    kubernetesVersion: 'v1.36.0',
    api: () => ({ client: api.client(), informers }),
    nodes: [
      {
        identity: { name: 'n1', hostIP: HOST, capacity: { cpu: '4', memory: '8Gi' }, kubeletPort: 10250 },
        runtime: new SimulatedRuntime({ clock, nodeName: 'n1', addresses, content, pullMs: 0 }),
      },
    ],
  });
  await kubelets.start();
  const serverTls = issue('system:node:n1', ['system:nodes'], 'server');
  const server = new KubeletServer({
    eventRate: { qps: 50, burst: 100 },
    clock,
    log: silentLog,
    registry,
    tls: { cert: serverTls.cert, key: serverTls.key, clientCa: authority.certificatePem },
    auth: () => allowList({ users: ['kube-apiserver-kubelet-client'] }),
    nodeAt: () => kubelets.node('n1'),
  });
  const port = await server.listen({ host: HOST, port: 0 });
  const tls = issue('kube-apiserver-kubelet-client', ['kubeadm:cluster-admins'], 'client');
  await until(
    () =>
      kubelets.node('n1')!.entries().length === pods.length &&
      kubelets
        .node('n1')!
        .entries()
        .every((entry) => entry.wanted()?.phase !== undefined && entry.wanted()?.phase !== 'Pending'),
  );
  return {
    port,
    host: HOST,
    tls,
    strangerTls: issue('mallory', [], 'client'),
    api,
    podOf: (name) => kubelets.node('n1')!.find('default', name)!.pod,
    get: (path, credentials = tls) =>
      new Promise((resolve, reject) => {
        const request = https.get({ host: HOST, port, path, agent: false, ...credentials }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.once('end', () =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
          );
        });
        request.once('error', reject);
      }),
    async stop() {
      await server.close();
      await kubelets.stop(0);
      informers.dispose();
    },
  };
};
