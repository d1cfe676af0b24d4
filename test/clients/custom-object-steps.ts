import { startLabelWebhook } from './admission-steps.ts';
import type { TestWebhook } from '../../core/apiserver/webhook/testing/webhook-server.ts';

/** The namespace that everything here lives in, and goes with. */
export const SHOP = 'shop';
const GROUP = 'shop.example.com';

const definition = (kind: string, scope: 'Namespaced' | 'Cluster'): object => {
  const singular = kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${GROUP}` },
    spec: {
      group: GROUP,
      scope,
      names: { plural: `${singular}s`, singular, kind },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
};

/** Definitions of an order and of its parts, and a quota of two orders. */
export const SHOP_MANIFEST = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    definition('Order', 'Namespaced'),
    definition('Part', 'Namespaced'),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } },
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'orders', namespace: SHOP },
      spec: { hard: { [`count/orders.${GROUP}`]: '2' } },
    },
  ],
};

export const custom = (
  kind: string,
  name: string,
  owner?: { readonly name: string; readonly uid: string },
) => ({
  apiVersion: `${GROUP}/v1`,
  kind,
  metadata: {
    name,
    namespace: SHOP,
    ...(owner && {
      ownerReferences: [
        { apiVersion: `${GROUP}/v1`, kind: 'Order', ...owner, controller: true, blockOwnerDeletion: true },
      ],
    }),
  },
});

/** A pod that stands for the webhook, and a Service that finds it by its label. */
export const WEBHOOK_POD = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'webhook', namespace: SHOP, labels: { app: 'webhook' } },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'app', image: 'webhook:1' }] },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'hook', namespace: SHOP },
      spec: { selector: { app: 'webhook' }, ports: [{ port: 443, targetPort: 8443 }] },
    },
  ],
};

/** What the container of that pod would run: an HTTPS server on the pod's own address. */
export const startPodWebhook = (podIP: string): Promise<TestWebhook> =>
  startLabelWebhook(podIP, { port: 8443, serverName: `hook.${SHOP}.svc` });

export const podWebhookConfiguration = ({ caBundle }: TestWebhook): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: 'pod-webhook' },
  webhooks: [
    {
      name: 'pod.shop.example.com',
      clientConfig: { service: { namespace: SHOP, name: 'hook' }, caBundle },
      rules: [{ operations: ['CREATE'], apiGroups: [GROUP], apiVersions: ['*'], resources: ['parts'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 5,
    },
  ],
});
