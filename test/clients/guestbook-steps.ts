import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { KubernetesClient } from '../support/kubectl.ts';
import { until } from '../support/until.ts';

export const GUESTBOOK = join(process.cwd(), 'resources/samples/guestbook.yaml');

/** What a simulated pod says about itself. */
export interface Answer {
  readonly pod: string;
  readonly node: string;
}

/** One request on a connection of its own, so that the balancer picks a backend again. */
export const ask = async (host: string, port: number, path = '/'): Promise<Answer> => {
  const asking = request({ host, port, path, agent: false }).end();
  const [response] = (await once(asking, 'response')) as [AsyncIterable<Buffer>];
  let body = '';
  for await (const chunk of response) body += chunk.toString();
  return JSON.parse(body) as Answer;
};

export const isListening = async (host: string, port: number): Promise<boolean> => {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
};

/** The address of a `LoadBalancer`, once it has one. */
export const balancerAddress = (kubectl: KubernetesClient, name: string): Promise<string> =>
  until(`an address of ${name}`, async () => {
    const path = 'jsonpath={.status.loadBalancer.ingress[0].ip}';
    const address = await kubectl.ok('-n', 'guestbook', 'get', 'service', name, '-o', path);
    return address === '' ? undefined : address;
  });

/** The host that holds the lease of an elected component. */
export const holderOf = async (kubectl: KubernetesClient, lease: string): Promise<string> => {
  const path = 'jsonpath={.spec.holderIdentity}';
  const identity = await kubectl.ok('-n', 'kube-system', 'get', 'lease', lease, '-o', path);
  return identity.split('_')[0] ?? '';
};

/** One pod that would rather run on `node`, tolerates control planes, and leaves a node soon after it is lost. */
export const watchman = (node: string): string =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'watchman', namespace: 'guestbook' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'watchman' } },
      template: {
        metadata: { labels: { app: 'watchman' } },
        spec: {
          containers: [{ name: 'watchman', image: 'busybox' }],
          tolerations: [
            { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' },
            ...['not-ready', 'unreachable'].map((state) => ({
              key: `node.kubernetes.io/${state}`,
              operator: 'Exists',
              effect: 'NoExecute',
              tolerationSeconds: 1,
            })),
          ],
          affinity: {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: 100,
                  preference: {
                    matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }],
                  },
                },
              ],
            },
          },
        },
      },
    },
  });
