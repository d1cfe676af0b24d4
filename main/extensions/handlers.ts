import type { Clock } from '../../core/base/clock.ts';
import type { Handlers } from '../../core/contract/index.ts';
import type { Connections } from '../kube/connections.ts';
import type { Damage } from '../state/json-document.ts';
import { openExtensions, type Extensions } from './extensions.ts';
import { createExtensionRead } from './read-for-extension.ts';

export interface ExtensionDependencies {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly connections: Pick<Connections, 'open'>;
  readonly onDamage: (damage: Damage) => void;
}

export interface ExtensionHost {
  readonly handlers: Handlers;
  readonly page: Extensions['page'];
}

export const createExtensionHost = (options: ExtensionDependencies): ExtensionHost => {
  const { dataDirectory, clock, connections, onDamage } = options;
  const extensions = openExtensions({ dataDirectory, nowMs: () => clock.nowMs(), onDamage });
  return {
    handlers: {
      'extensions.list': () => extensions.list(),
      'extensions.allow': (ref) => extensions.allow(ref),
      'extensions.revoke': ({ name }) => extensions.revoke(name),
      'extensions.read': createExtensionRead({ clock, extensions, connections }),
    },
    page: (path) => extensions.page(path),
  };
};
