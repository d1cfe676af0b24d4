import { groupResourceText, type GroupResource, type KubernetesObject } from '../../../api/meta/index.ts';
import { obj } from '../../../api/validation/read.ts';
import type { EscalationGuard } from '../../authz/rbac/escalation.ts';
import type { Draft, Strategy } from '../generic/strategy.ts';
import { apiServiceStrategy } from './api-services.ts';
import {
  certificateApprovalStrategy,
  certificateRequestStrategy,
  certificateStatusStrategy,
} from './certificates.ts';
import { definitionStrategy } from './custom-resource-definitions.ts';
import { secretStrategy, volumeStatus } from './data.ts';
import { eventStrategy } from './events.ts';
import { withoutGatedFields } from './gated-fields.ts';
import { namespaceFinalizeStrategy, namespaceStrategy } from './namespaces.ts';
import { podEphemeralContainersStrategy, podResizeStrategy, podStatusStrategy, podStrategy } from './pods.ts';
import { bindingStrategy, roleStrategy } from './rbac.ts';
import { restore, specStrategy, statusStrategy } from './spec-status.ts';
import { ROWS } from './table.ts';
import { daemonSetStrategy, jobStrategy } from './workloads.ts';

export interface StrategyParts {
  readonly guard?: EscalationGuard | undefined;
  /** Upstream's --event-ttl. */
  readonly eventTtlSeconds: number;
  /** Services claim addresses and ports. */
  readonly services: Strategy;
}

const RBAC = 'rbac.authorization.k8s.io';
const CREATES: Strategy = { allowCreateOnUpdate: true };

/** A kubelet registers its node with the status in it; later it writes `/status`. */
const nodeStrategy: Strategy = {
  resetFields: [['status']],
  prepareForCreate: (draft) => dropConfigSource(draft, {}),
  prepareForUpdate(draft, old) {
    dropConfigSource(draft, old);
    restore(draft, old, 'status');
  },
};

/** Configuration of kubelets through the API is gone; only nodes that have it may keep it. */
const dropConfigSource = (draft: Draft, old: KubernetesObject): void => {
  const { configSource, ...spec } = obj(draft, 'spec') as Record<string, unknown>;
  if (configSource !== undefined && obj(old, 'spec')['configSource'] === undefined) draft['spec'] = spec;
};

const ownStrategy = (name: string, parts: StrategyParts): Strategy | undefined => {
  const { guard, eventTtlSeconds, services } = parts;
  switch (name) {
    case 'pods':
      return podStrategy;
    case 'namespaces':
      return namespaceStrategy;
    case 'nodes':
      return nodeStrategy;
    case 'secrets':
      return secretStrategy;
    case 'services':
      return services;
    case 'events':
      return eventStrategy(eventTtlSeconds);
    case 'certificatesigningrequests.certificates.k8s.io':
      return certificateRequestStrategy;
    case `roles.${RBAC}`:
      return guard ? roleStrategy('roles', guard) : CREATES;
    case `clusterroles.${RBAC}`:
      return guard ? roleStrategy('clusterroles', guard) : CREATES;
    case `rolebindings.${RBAC}`:
      return guard ? bindingStrategy('rolebindings', guard) : CREATES;
    case `clusterrolebindings.${RBAC}`:
      return guard ? bindingStrategy('clusterrolebindings', guard) : CREATES;
    default:
      return undefined;
  }
};

/** Rows that need a word of code beside what the table says. */
const INSIDE: Readonly<Record<string, Strategy | undefined>> = {
  'jobs.batch': jobStrategy,
  'daemonsets.apps': daemonSetStrategy,
  'customresourcedefinitions.apiextensions.k8s.io': definitionStrategy,
  'apiservices.apiregistration.k8s.io': apiServiceStrategy,
};

export const strategyOf = (resource: GroupResource, parts: StrategyParts): Strategy => {
  const name = groupResourceText(resource);
  const own = ownStrategy(name, parts);
  const row = ROWS[name] ?? {};
  return withoutGatedFields(name, own ?? specStrategy(row, { ...row.own, ...INSIDE[name] }));
};

/** The parts that are written through endpoints of their own: by resource and subresource. */
export const partStrategyOf = (
  resource: GroupResource,
  subresource: string,
  parent: Strategy,
): Strategy | undefined => {
  const name = groupResourceText(resource);
  switch (`${name}/${subresource}`) {
    case 'pods/status':
      return podStatusStrategy;
    case 'pods/ephemeralcontainers':
      return podEphemeralContainersStrategy;
    case 'pods/resize':
      return podResizeStrategy;
    case 'namespaces/finalize':
      return namespaceFinalizeStrategy;
    case 'persistentvolumes/status':
      return statusStrategy(parent, ROWS[name] ?? {}, volumeStatus);
    case 'certificatesigningrequests.certificates.k8s.io/status':
      return certificateStatusStrategy;
    case 'certificatesigningrequests.certificates.k8s.io/approval':
      return certificateApprovalStrategy;
    default:
      return subresource === 'status' ? statusStrategy(parent, ROWS[name] ?? {}) : undefined;
  }
};
