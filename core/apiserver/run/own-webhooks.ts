import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { lastingController } from '../../base/node/lasting-signal.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import type { WebhookTarget } from '../webhook/target.ts';
import { createWebhookClient } from '../webhook/webhook-client.ts';

/** Asks one webhook. */
export type Poster = (body: object) => Promise<KubernetesObject>;

/** Webhooks that this server's own configuration names: they decide who is let in, before there are any Services. */
export interface OwnWebhooks extends Disposable {
  poster(target: WebhookTarget, timeoutMs: number): Poster;
}

export const createOwnWebhooks = (clock: Clock): OwnWebhooks => {
  const life = lastingController();
  const client = createWebhookClient({
    resolve: () => Promise.reject(new Error('a webhook of the configuration is given by a URL')),
    clock,
  });
  return {
    poster: (target, timeoutMs) => (body) => client.post(target, body, { timeoutMs, signal: life.signal }),
    dispose() {
      life.abort();
      client.dispose();
    },
  };
};
