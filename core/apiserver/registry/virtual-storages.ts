import type { Clock } from '../../base/clock.ts';
import { groupResourceText, type GroupResource } from '../../api/meta/index.ts';
import type { TokenSigner } from '../authn/service-account-tokens.ts';
import { noOpinion, type Authorizer } from '../authz/authorizer.ts';
import type { Store } from '../storage/store.ts';
import type { GenericStore } from './generic/generic-store.ts';
import type { RestStorage } from './rest-storage.ts';
import {
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
  type RulesResolver,
} from './reviews/access-reviews.ts';
import { componentStatuses, etcdProbe, type ComponentProbe } from './reviews/component-statuses.ts';
import { selfSubjectReviews, tokenReviews, type TokenReviewer } from './reviews/identity-reviews.ts';
import { bindings, podBinding } from './subresources/binding.ts';
import { podEviction } from './subresources/eviction.ts';
import { podPortForward, podStream, proxyTo, type KubeletPort } from './subresources/kubelet-port.ts';
import { scaleOfParent } from './subresources/scale.ts';
import { tokenRequest } from './subresources/token-request.ts';

/** What the storages that keep nothing themselves are made of. Each may be absent: they then say so. */
export interface VirtualOptions {
  /** Answers access reviews; absent: nothing is allowed. */
  readonly authorizer?: Authorizer;
  readonly rulesFor?: RulesResolver;
  readonly reviewToken?: TokenReviewer;
  readonly signToken?: TokenSigner;
  /** Upstream's --service-account-max-token-expiration. */
  readonly tokenExpirationSecondsMax?: number;
  readonly kubelets?: KubeletPort;
  /** By component; `etcd-0` is there without being named. */
  readonly componentProbes?: Readonly<Record<string, ComponentProbe>>;
}

interface Parts {
  readonly find: (resource: GroupResource) => GenericStore;
  readonly store: Store;
  readonly clock: Clock;
  readonly options: VirtualOptions;
}

const SCALED: readonly GroupResource[] = [
  { group: 'apps', resource: 'deployments' },
  { group: 'apps', resource: 'replicasets' },
  { group: 'apps', resource: 'statefulsets' },
  { group: '', resource: 'replicationcontrollers' },
];

const NO_RULES = { resourceRules: [], nonResourceRules: [], incomplete: true };
const NOBODY: Authorizer = { authorize: () => noOpinion() };

/** Subresources and resources that are asked, not kept, by `plural.group/subresource`. */
export const virtualStorages = ({ find, store, clock, options }: Parts): ReadonlyMap<string, RestStorage> => {
  const { authorizer = NOBODY, rulesFor = () => NO_RULES, reviewToken, signToken, kubelets } = options;
  const core = (resource: string): GenericStore => find({ group: '', resource });
  const [pods, nodes, services] = [core('pods'), core('nodes'), core('services')];
  const serviceAccounts = core('serviceaccounts');
  const budgets = find({ group: 'policy', resource: 'poddisruptionbudgets' });
  const token = {
    sign: signToken,
    expirationSecondsMax: options.tokenExpirationSecondsMax,
  };
  return new Map<string, RestStorage>([
    ['bindings/', bindings(pods)],
    ['pods/binding', podBinding(pods)],
    ['pods/eviction', podEviction(pods, budgets)],
    ['pods/log', podStream(pods, 'log', kubelets)],
    ['pods/exec', podStream(pods, 'exec', kubelets)],
    ['pods/attach', podStream(pods, 'attach', kubelets)],
    ['pods/portforward', podPortForward(pods, kubelets)],
    ['pods/proxy', proxyTo(pods, 'pod', kubelets)],
    ['services/proxy', proxyTo(services, 'service', kubelets)],
    ['nodes/proxy', proxyTo(nodes, 'node', kubelets)],
    [
      'serviceaccounts/token',
      tokenRequest({ serviceAccounts, pods, nodes, secrets: core('secrets') }, token),
    ],
    ...SCALED.map((resource): [string, RestStorage] => [
      `${groupResourceText(resource)}/scale`,
      scaleOfParent(find(resource)),
    ]),
    ['componentstatuses/', componentStatuses({ 'etcd-0': etcdProbe(store), ...options.componentProbes })],
    ['tokenreviews.authentication.k8s.io/', tokenReviews(reviewToken)],
    ['selfsubjectreviews.authentication.k8s.io/', selfSubjectReviews(clock)],
    ['subjectaccessreviews.authorization.k8s.io/', subjectAccessReviews(authorizer)],
    ['localsubjectaccessreviews.authorization.k8s.io/', localSubjectAccessReviews(authorizer)],
    ['selfsubjectaccessreviews.authorization.k8s.io/', selfSubjectAccessReviews(authorizer)],
    ['selfsubjectrulesreviews.authorization.k8s.io/', selfSubjectRulesReviews(rulesFor)],
  ]);
};
