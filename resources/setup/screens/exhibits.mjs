/** What stands in the cluster so that every page has something to show: an application, faults, a Helm release. */
import { gzipSync } from 'node:zlib';

const NAMESPACE = 'shop';
const meta = (name, labels) => ({ name, namespace: NAMESPACE, ...(labels && { labels }) });

const deployment = (name, { replicas = 1, container = {}, pod = {}, annotations } = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: meta(name, { app: name, 'app.kubernetes.io/part-of': 'shop' }),
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name }, ...(annotations && { annotations }) },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name,
            image: `registry.example.com/shop/${name}:1.4.2`,
            ports: [{ name: 'http', containerPort: 8080 }],
            resources: { requests: { cpu: '50m', memory: '32Mi' }, limits: { memory: '64Mi' } },
            ...container,
          },
        ],
        ...pod,
      },
    },
  },
});

const service = (name, app) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: meta(name, { app }),
  spec: { selector: { app }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
});

/** A shop with intended faults: each has a sentence in the graph or the doctor. */
export const SHOP = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: meta('dev') },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: meta('dev'),
    rules: [{ apiGroups: [''], resources: ['configmaps', 'pods'], verbs: ['get', 'list', 'watch'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: meta('dev'),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'dev' },
    subjects: [{ kind: 'ServiceAccount', name: 'dev', namespace: NAMESPACE }],
  },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('cart'), data: { PAYMENTS: 'http://payments' } },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: meta('cart'),
    stringData: { password: 'a-long-password', user: 'cart' },
  },
  deployment('cart', {
    replicas: 2,
    annotations: {
      'simulation.pilothouse.dev/logs': [
        'INFO the cart is open',
        '{"level":"error","msg":"payment rejected","order":"4711","customer":"ada"}',
        'W0912 10:04:12.123456       1 cart.go:12] "Stock is low" article="anchor"',
      ].join('\n'),
    },
    container: {
      env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'cart', key: 'password' } } }],
      envFrom: [{ configMapRef: { name: 'cart' } }],
      readinessProbe: { httpGet: { port: 8080, path: '/' }, periodSeconds: 2 },
    },
  }),
  service('cart', 'cart'),
  // The label is misspelled.
  service('checkout', 'chekout'),
  deployment('checkout'),
  // The ConfigMap does not exist.
  deployment('payments', { container: { envFrom: [{ configMapRef: { name: 'payments-config' } }] } }),
  // No node has that much.
  deployment('search', { container: { resources: { requests: { cpu: '48', memory: '1Gi' } } } }),
  deployment('images', { container: { image: 'registry.example.com/shop/images:missing' } }),
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: meta('orders'),
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      resources: { requests: { storage: '2Gi' } },
    },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: meta('shop'),
    spec: {
      rules: [
        {
          host: 'shop.example.com',
          http: {
            paths: ['/', '/checkout'].map((path, index) => ({
              path,
              pathType: 'Prefix',
              backend: { service: { name: index === 0 ? 'cart' : 'checkout', port: { number: 80 } } },
            })),
          },
        },
      ],
    },
  },
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: meta('cart'),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'cart' },
      minReplicas: 2,
      maxReplicas: 5,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } },
        },
      ],
    },
  },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: meta('cart'),
    spec: { minAvailable: 2, selector: { matchLabels: { app: 'cart' } } },
  },
  {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: meta('shop'),
    spec: { hard: { pods: '20', 'requests.cpu': '80' } },
  },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: meta('reports'),
    spec: {
      schedule: '0 4 * * *',
      jobTemplate: {
        spec: {
          template: {
            spec: {
              restartPolicy: 'Never',
              containers: [{ name: 'reports', image: 'registry.example.com/shop/reports:1' }],
            },
          },
        },
      },
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'no-latest-images' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['deployments'],
          },
        ],
      },
      validations: [
        {
          expression: "object.spec.template.spec.containers.all(c, !c.image.endsWith(':latest'))",
          message: 'Images need a tag other than latest.',
        },
      ],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'no-latest-images' },
    spec: { policyName: 'no-latest-images', validationActions: ['Deny'] },
  },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'berths.harbour.example.com' },
    spec: {
      group: 'harbour.example.com',
      scope: 'Namespaced',
      names: { plural: 'berths', singular: 'berth', kind: 'Berth', shortNames: ['bt'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          additionalPrinterColumns: [{ name: 'Ship', type: 'string', jsonPath: '.spec.ship' }],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties: { ship: { type: 'string' } } } },
            },
          },
        },
      ],
    },
  },
];

/** After the kind is served. */
export const BERTHS = ['north', 'south'].map((name) => ({
  apiVersion: 'harbour.example.com/v1',
  kind: 'Berth',
  metadata: meta(name),
  spec: { ship: `SS ${name}` },
}));

const RELEASE = 'web';
const NOTES = 'Visit http://web.shop.svc. Change the number of replicas with --set replicas=3.';

const manifestOf = (replicas) => `---
# Source: web/templates/service.yaml
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: ${NAMESPACE}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
---
# Source: web/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ${NAMESPACE}
spec:
  replicas: ${replicas}
`;

/** One revision as `helm` stores it: gzip in base64 in a Secret. */
const revisionOf = (revision, { status, description, replicas, atMs }) => {
  const at = new Date(atMs).toISOString();
  const release = {
    name: RELEASE,
    namespace: NAMESPACE,
    version: revision,
    info: { first_deployed: at, last_deployed: at, status, description, notes: NOTES },
    chart: {
      metadata: { name: 'web', version: `1.${revision}.0`, appVersion: '1.29' },
      values: { replicas: 1, image: 'nginx:1.29' },
    },
    config: { replicas },
    manifest: manifestOf(replicas),
    hooks: [],
  };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'helm.sh/release.v1',
    metadata: meta(`sh.helm.release.v1.${RELEASE}.v${revision}`, {
      name: RELEASE,
      owner: 'helm',
      status,
      version: String(revision),
      modifiedAt: String(Math.floor(atMs / 1000)),
    }),
    data: { release: Buffer.from(gzipSync(JSON.stringify(release)).toString('base64')).toString('base64') },
  };
};

/** A release of a chart with two objects, upgraded once; its Deployment runs. */
export const helmRelease = (nowMs) => [
  { ...deployment(RELEASE, { replicas: 2 }), metadata: meta(RELEASE) },
  service(RELEASE, RELEASE),
  revisionOf(1, {
    status: 'superseded',
    description: 'Install complete',
    replicas: 1,
    atMs: nowMs - 3 * 3_600_000,
  }),
  revisionOf(2, { status: 'deployed', description: 'Upgrade complete', replicas: 2, atMs: nowMs - 600_000 }),
];

/** A kubeconfig of the ServiceAccount `dev`, which may read ConfigMaps and pods of its namespace. */
export const limitedKubeconfig = ({ server, authority, token }) => `apiVersion: v1
kind: Config
clusters:
  - name: shop
    cluster: { server: '${server}', certificate-authority-data: '${authority}' }
users:
  - name: dev
    user: { token: '${token}' }
contexts:
  - name: dev@shop
    context: { cluster: shop, user: dev, namespace: ${NAMESPACE} }
current-context: dev@shop
`;

/** Nothing listens there. */
export const UNREACHABLE_KUBECONFIG = `apiVersion: v1
kind: Config
clusters:
  - name: far
    cluster: { server: 'https://127.0.0.1:9', insecure-skip-tls-verify: true }
users:
  - name: far
    user: { token: none }
contexts:
  - name: far-away
    context: { cluster: far, user: far }
current-context: far-away
`;
