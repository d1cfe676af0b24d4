import { isForbidden } from '../../../api/meta/status.ts';
import { silentLog } from '../../../base/log.ts';
import { systemRandom } from '../../../base/node/random.ts';
import { CLUSTER_ROLE_BINDING, connect, loadOwnKubeconfig, SECRET } from '../../../client/index.ts';
import { planHosts } from '../../config/hosts.ts';
import { kubeletKubeconfigFile } from '../../data-folder/layout.ts';
import { saidOf, say, together, type Said } from '../../../contract/index.ts';
import { bad, ok, type CheckItem } from '../item.ts';
import type { Look } from '../look.ts';

/** Of a thousand nodes; one is made like the other. */
const NODES_ASKED_MAX = 8;
const ANSWER_MS_MAX = 10_000;

interface SelfSubjectReview {
  readonly status?: { readonly userInfo?: { readonly username?: string } };
}

/** What a kubelet's kubeconfig may do that it must not; undefined where it is as it should be. */
const faultOf = async ({ dataDirectory, clock }: Look, node: string): Promise<Said | undefined> => {
  const file = kubeletKubeconfigFile(dataDirectory, node);
  const client = connect(await loadOwnKubeconfig(file), {
    clock,
    random: systemRandom,
    log: silentLog,
    userAgent: 'pilothouse-check',
    timeoutMs: ANSWER_MS_MAX,
  });
  try {
    const { status } = await client.json<SelfSubjectReview>({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    });
    const user = status?.userInfo?.username ?? '';
    const expected = `system:node:${node}`;
    if (user !== expected) return say('found.nodeIdentity.user', { node, user, expected });
    const isAllowed = await client
      .resource(SECRET, 'kube-system')
      .list({ limit: 1 })
      .then(
        () => true,
        (error: unknown) => {
          if (isForbidden(error)) return false;
          throw error;
        },
      );
    return isAllowed ? say('found.nodeIdentity.secrets', { user }) : undefined;
  } finally {
    client.dispose();
  }
};

/** The Node authorizer knows what each node may do; who is bound to the role gets all of it, for every node. */
const boundToNodeRole = async ({ client }: Look): Promise<Said[]> => {
  const { items } = await client.resource(CLUSTER_ROLE_BINDING).list();
  return items
    .filter(({ roleRef }) => roleRef.kind === 'ClusterRole' && roleRef.name === 'system:node')
    .flatMap(({ metadata, subjects = [] }) =>
      subjects.map(({ kind, name }) =>
        say('found.nodeIdentity.bound', { binding: metadata.name, subject: `${kind} ${name}` }),
      ),
    );
};

export const nodeIdentity: CheckItem = {
  id: 'nodeIdentity',
  async measure(look) {
    const bound = await boundToNodeRole(look);
    if (bound.length > 0) return bad(together(bound), say('advice.nodeIdentity.bound'));
    const nodes = planHosts(look.config).flatMap((host) => host.nodes.map(({ name }) => name));
    const asked = [...nodes.slice(0, NODES_ASKED_MAX / 2), ...nodes.slice(-NODES_ASKED_MAX / 2)];
    const faults = await Promise.all(
      [...new Set(asked)].map((node) =>
        faultOf(look, node).catch((error: unknown) =>
          say('found.nodeIdentity.failed', { node, why: saidOf(error) }),
        ),
      ),
    );
    const found = faults.filter((fault) => fault !== undefined);
    return found.length > 0
      ? bad(together(found), say('advice.nodeIdentity'))
      : ok(say('found.nodeIdentity.ok', { count: nodes.length }));
  },
};
