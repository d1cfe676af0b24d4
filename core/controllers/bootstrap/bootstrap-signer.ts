import { isConflict } from '../../api/meta/index.ts';
import { CONFIG_MAP, SECRET } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { BOOTSTRAP_SECRETS, expirationMsOf, signingToken } from './bootstrap-token.ts';
import { detachedSignature } from './detached-jws.ts';

export const CLUSTER_INFO = { namespace: 'kube-public', name: 'cluster-info' } as const;
export const KUBECONFIG_KEY = 'kubeconfig';
export const SIGNATURE_PREFIX = 'jws-kubeconfig-';
/** Timers of the system reach no further than 24 days. */
const WAIT_MS_MAX = 24 * 3_600_000;

/** Keeps a signature of `cluster-info` for each token that may sign, and none of others. */
export const bootstrapSigner: ControllerDefinition<ControllerSettings> = {
  name: 'bootstrap-signer-controller',
  aliases: ['bootstrapsigner'],
  serviceAccount: 'bootstrap-signer',
  isOnByDefault: false,
  create(context) {
    const { client, informers, clock } = context;
    const secrets = informers.informer(SECRET, BOOTSTRAP_SECRETS);
    const maps = informers.informer(CONFIG_MAP, {
      namespace: CLUSTER_INFO.namespace,
      fieldSelector: `metadata.name=${CLUSTER_INFO.name}`,
    });
    const signed = (content: string): Record<string, string> =>
      Object.fromEntries(
        secrets.store.list().flatMap((secret) => {
          const token = signingToken(secret, clock.nowMs());
          return token
            ? [[`${SIGNATURE_PREFIX}${token.id}`, detachedSignature(content, token.id, token.secret)]]
            : [];
        }),
      );
    const loop = workLoop(context, {
      name: 'bootstrap_signer_queue',
      workers: 1,
      async handle() {
        const held = maps.store.find(CLUSTER_INFO.namespace, CLUSTER_INFO.name);
        const content = held?.data?.[KUBECONFIG_KEY];
        if (!held || content === undefined) return;
        const others = Object.entries(held.data ?? {}).filter(([key]) => !key.startsWith(SIGNATURE_PREFIX));
        const data = { ...Object.fromEntries(others), ...signed(content) };
        const text = (of: Readonly<Record<string, string>>): string =>
          JSON.stringify(Object.entries(of).sort());
        if (text(data) !== text(held.data ?? {}))
          await client
            .resource(CONFIG_MAP, CLUSTER_INFO.namespace)
            .update({ ...held, data })
            .catch((error: unknown) => {
              // The newer one is on its way here, and is signed then.
              if (!isConflict(error)) throw error;
            });
        const nowMs = clock.nowMs();
        const ends = secrets.store.list().map((secret) => expirationMsOf(secret) ?? Number.POSITIVE_INFINITY);
        const nextMs = Math.min(...ends.filter((atMs) => atMs > nowMs));
        if (Number.isFinite(nextMs)) return { requeueAfterMs: Math.min(nextMs - nowMs + 1, WAIT_MS_MAX) };
      },
    });
    const wake = (): void => loop.queue.add(CLUSTER_INFO.name);
    for (const informer of [secrets, maps])
      informer.addHandler({ added: wake, updated: wake, deleted: wake });
    return loop;
  },
};
