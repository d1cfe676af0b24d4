import { isConflict, isNotFound, objectKey } from '../../api/meta/index.ts';
import { SECRET } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { BOOTSTRAP_SECRETS, expirationMsOf } from './bootstrap-token.ts';

/** Timers of the system reach no further than 24 days. */
const WAIT_MS_MAX = 24 * 3_600_000;

/** Deletes bootstrap tokens when they expire. */
export const tokenCleaner: ControllerDefinition<ControllerSettings> = {
  name: 'token-cleaner-controller',
  aliases: ['tokencleaner'],
  serviceAccount: 'token-cleaner',
  isOnByDefault: false,
  create(context) {
    const { client, informers, clock } = context;
    const secrets = informers.informer(SECRET, BOOTSTRAP_SECRETS);
    const loop = workLoop(context, {
      name: 'token_cleaner',
      workers: 1,
      async handle(key) {
        const secret = secrets.store.get(key);
        const expirationMs = secret && expirationMsOf(secret);
        if (expirationMs === undefined) return;
        const waitMs = expirationMs - clock.nowMs();
        if (waitMs > 0) return { requeueAfterMs: Math.min(waitMs, WAIT_MS_MAX) };
        const { name, uid } = secret!.metadata;
        await client
          .resource(SECRET, BOOTSTRAP_SECRETS.namespace)
          .delete(name, { preconditions: { uid } })
          .catch((error: unknown) => {
            if (!isNotFound(error) && !isConflict(error)) throw error;
          });
      },
    });
    secrets.addHandler({
      added: (secret) => loop.queue.add(objectKey(secret)),
      updated: (_before, secret) => loop.queue.add(objectKey(secret)),
    });
    return loop;
  },
};
