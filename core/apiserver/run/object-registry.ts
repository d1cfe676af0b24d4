import {
  checkDeviceSelectors,
  KINDS_WITH_DEVICE_SELECTORS,
} from '../admission/expressions/device-selectors.ts';
import { checkExpressions } from '../admission/policies/expression-errors.ts';
import { escalationGuard } from '../authz/rbac/escalation.ts';
import { subjectRulesStatus } from '../authz/rbac/rbac-authorizer.ts';
import { definitionErrors } from '../extensions/extensions.ts';
import { createKubeletProxy } from '../kubelet-proxy/kubelet-proxy.ts';
import { createRegistry, type DeepCheck, type ObjectRegistry } from '../registry/create-registry.ts';
import { tlsFromFiles } from '../storage/etcd-client/index.ts';
import type { Store } from '../storage/store.ts';
import type { Authentication } from './authentication.ts';
import type { Authorization } from './authorization.ts';
import type { Surroundings } from './surroundings.ts';

export interface ObjectRegistryParts {
  readonly store: Store;
  readonly authentication: Authentication;
  readonly authorization: Authorization;
}

const POLICY_GROUP = 'admissionregistration.k8s.io';
const WITH_EXPRESSIONS = [
  'MutatingAdmissionPolicy',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingWebhookConfiguration',
];

const deepChecks = (minor: number): Readonly<Record<string, DeepCheck>> => ({
  'CustomResourceDefinition.apiextensions.k8s.io': (definition, before, found) =>
    definitionErrors(definition, before, found, minor),
  ...Object.fromEntries(
    WITH_EXPRESSIONS.map((kind): [string, DeepCheck] => [
      `${kind}.${POLICY_GROUP}`,
      (object, before, found) => checkExpressions({ kind, object, before }, found, minor),
    ]),
  ),
  ...Object.fromEntries(
    KINDS_WITH_DEVICE_SELECTORS.map((kind): [string, DeepCheck] => [
      `${kind}.resource.k8s.io`,
      (object, before, found) => checkDeviceSelectors({ kind, object, before }, found, minor),
    ]),
  ),
});

/** The registry of resources with what some of them ask: authorizer, token signer, kubelets. */
export const createObjectRegistry = (
  { config, clock, random, log }: Surroundings,
  { store, authentication, authorization }: ObjectRegistryParts,
): ObjectRegistry => {
  const { authorizer, policy } = authorization;
  const { tokenSecondsMax } = config.serviceAccounts;
  const { caFile, certFile, keyFile, addressTypes, timeoutMs } = config.kubelet;
  const kubeletTls = tlsFromFiles({
    ...(caFile !== '' && { caFile }),
    ...(certFile !== '' && { certFile, keyFile }),
  });
  const registry: ObjectRegistry = createRegistry({
    store,
    minor: config.minor,
    clock,
    random,
    log,
    guard: escalationGuard(policy, authorizer),
    eventTtlSeconds: config.eventTtlSeconds,
    serviceCidrs: config.serviceRanges,
    nodePorts: config.nodePorts,
    allowPrivileged: config.allowPrivileged,
    deepChecks: deepChecks(config.minor),
    authorizer,
    rulesFor: (user, namespace) => subjectRulesStatus(policy, user, namespace),
    reviewToken: authentication.reviewToken,
    signToken: authentication.sign,
    ...(tokenSecondsMax > 0 && { tokenExpirationSecondsMax: tokenSecondsMax }),
    kubelets: createKubeletProxy({
      reader: {
        get: (...args) => registry.reader.get(...args),
        list: (...args) => registry.reader.list(...args),
      },
      // Without an authority to check them by, as upstream without --kubelet-certificate-authority.
      tls: () => ({ ...kubeletTls(), rejectUnauthorized: caFile !== '' }),
      random,
      advertiseAddress: config.advertiseAddress,
      addressTypes,
      timeoutMs,
    }),
  });
  return registry;
};
