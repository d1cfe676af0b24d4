import {
  foreignCaBundle,
  startTestWebhook,
  type TestWebhook,
} from '../../core/apiserver/webhook/testing/webhook-server.ts';

/** The namespace that everything here is limited to. */
export const HOOKED = 'hooked';

interface Review {
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly object: { readonly metadata: { readonly name: string; readonly labels?: object } } | null;
  };
}

/** Labels what it lets pass, and denies what is called bad. Stands behind the Service `hook`. */
export const startLabelWebhook = (
  address: string,
  { port = 0, serverName = `hook.${HOOKED}.svc` } = {},
): Promise<TestWebhook> =>
  startTestWebhook(
    (body, response) => {
      const { apiVersion, request } = JSON.parse(body) as Review;
      const { name = '', labels } = request.object?.metadata ?? {};
      const operations = [
        ...(labels === undefined ? [{ op: 'add', path: '/metadata/labels', value: {} }] : []),
        { op: 'add', path: '/metadata/labels/hooked', value: 'yes' },
      ];
      const verdict =
        name === 'bad'
          ? { allowed: false, status: { code: 403, message: 'bad names are not welcome' } }
          : {
              allowed: true,
              warnings: ['labelled by the webhook'],
              patchType: 'JSONPatch',
              patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
            };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(
          JSON.stringify({ apiVersion, kind: 'AdmissionReview', response: { uid: request.uid, ...verdict } }),
        );
    },
    { names: [serverName], address, port },
  );

/** A Service without a selector, its endpoint, and the configuration that refers to it. */
export const webhookManifest = ({ port, caBundle }: TestWebhook, address: string): string => `
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: ${HOOKED}}
spec: {ports: [{name: https, port: 443}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: hook-1, namespace: ${HOOKED}, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: [{name: https, port: ${port}}]
endpoints: [{addresses: ["${address}"]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: label}
webhooks:
- name: label.example.com
  clientConfig: {service: {namespace: ${HOOKED}, name: hook, path: /label}, caBundle: ${caBundle}}
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ${HOOKED}}}
  matchConditions: [{name: named, expression: "has(object.metadata.name) && object.metadata.name != 'kube-root-ca.crt'"}]
  sideEffects: None
  admissionReviewVersions: [v1]
`;

export const POLICY_MANIFEST = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: small}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{operations: [CREATE, UPDATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]
  variables: [{name: max, expression: int(params.data.max)}]
  validations:
  - expression: object.spec.replicas <= variables.max
    messageExpression: "'at most ' + string(variables.max) + ' replicas'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: small}
spec:
  policyName: small
  validationActions: [Deny]
  paramRef: {name: limits, namespace: ${HOOKED}, parameterNotFoundAction: Deny}
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ${HOOKED}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: team}
spec:
  matchConstraints:
    resourceRules: [{operations: [CREATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'team': 'a'}}}"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: team}
spec:
  policyName: team
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ${HOOKED}}}}
`;

/** Never answers `/hang`, and answers everything else with garbage. */
export const startBrokenWebhook = (address: string): Promise<TestWebhook> =>
  startTestWebhook(
    (_body, response, { url = '' }) => {
      if (!url.startsWith('/hang'))
        response.writeHead(200, { 'content-type': 'application/json' }).end('no JSON');
    },
    { names: [address], address },
  );

const brokenHook = (name: string, url: string, caBundle: string): string => `
- name: ${name}.example.com
  clientConfig: {url: "${url}", caBundle: ${caBundle}}
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
  matchConditions: [{name: named, expression: "object.metadata.name == '${name}'"}]
  timeoutSeconds: 1
  sideEffects: None
  admissionReviewVersions: [v1]`;

/** One webhook for each way to fail, called for the ConfigMap of its name. */
export const brokenManifest = ({ url, caBundle }: TestWebhook): string => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: broken}
webhooks:${brokenHook('hang', url('/hang'), caBundle)}${brokenHook('garbage', url('/garbage'), caBundle)}${brokenHook('stranger', url('/stranger'), foreignCaBundle())}
`;
