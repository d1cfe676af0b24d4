import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Log } from '../../core/base/log.ts';
import type { Random } from '../../core/base/random.ts';
import {
  connect,
  discover,
  loadKubeconfig,
  type Client,
  type ClientConfig,
  type Discovery,
  type OwnedClient,
} from '../../core/client/index.ts';
import { ContractError, say, type ClusterEntry, type ClusterList } from '../../core/contract/index.ts';
import { assertNotExpired, clientExpiryMs } from './client-expiry.ts';
import type { ExecConsent } from './exec-consent.ts';
import { kubeFailure } from './failure.ts';
import { ListScopes } from './list-scope.ts';
import type { SignIns } from './sign-ins.ts';

export const CONNECTIONS_MAX = 32;
const CONSOLE_KUBECONFIG = 'console.conf';
/** After this a new kind (a CRD that was just made) is looked for again. */
const DISCOVERY_FRESH_MS = 30_000;

export interface ClusterConnection extends Disposable {
  readonly config: ClientConfig;
  readonly client: OwnedClient;
  /** Reads what the console shows on its own: with the console's identity in clusters of ours, else as `client`. */
  readonly reader: Client;
  /** When the user's certificate ends, where that alone speaks for the user. */
  readonly expiresAtMs: number | undefined;
  /** What the server offers, not older than half a minute unless it cannot be asked; `isFresh` asks now. */
  discovery(isFresh?: boolean): Promise<Discovery>;
  serverVersion(): Promise<string>;
  /** Where the user may list a resource: null for everywhere. */
  listScope(resource: { readonly group: string; readonly plural: string }): Promise<string | null>;
}

export interface ConnectionsOptions {
  readonly clusters: { list(): Promise<ClusterList> };
  /** Asked before a program of a kubeconfig runs for the first time. */
  readonly consent: ExecConsent;
  readonly signIns: SignIns;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly userAgent: string;
}

interface Opened {
  readonly stamp: string;
  readonly connection: Promise<ClusterConnection>;
}

/** The clusters of the console, each connected when it is first asked for. */
export interface Connections extends Disposable {
  open(clusterId: string): Promise<ClusterConnection>;
  /** As `open`, but refuses what the user has not unlocked. */
  openForWriting(clusterId: string): Promise<ClusterConnection>;
  /** A cluster with what its kubeconfig says about the user, without a connection. */
  configured(clusterId: string): Promise<{ readonly entry: ClusterEntry; readonly config: ClientConfig }>;
}

/** The kubeconfig of the console itself lies beside the administrator's; a cluster of an older release has none. */
const consoleConfig = async (adminPath: string): Promise<ClientConfig | undefined> => {
  const path = join(dirname(adminPath), CONSOLE_KUBECONFIG);
  return existsSync(path) ? loadKubeconfig(path, {}) : undefined;
};

const configOf = (entry: ClusterEntry): Promise<ClientConfig> =>
  // The file of a cluster of our own has one context, which is named after its user too.
  loadKubeconfig(entry.kubeconfigPath, entry.origin === 'local' ? {} : { context: entry.name });

const connectCluster = async (
  entry: ClusterEntry,
  { clock, random, log, userAgent, consent, signIns }: ConnectionsOptions,
): Promise<ClusterConnection> => {
  const told = await configOf(entry);
  // What was just read is what would run: the file may have changed since it was listed.
  if (told.auth.exec) consent.assertAllowed(told.auth.exec, entry);
  const config = await signIns.applied(entry, told);
  const client = connect(config, { clock, random, log, userAgent });
  // A person who has signed in sees what that person may see.
  const own =
    config === told && entry.origin === 'local' ? await consoleConfig(entry.kubeconfigPath) : undefined;
  const reader = own && connect(own, { clock, random, log, userAgent });
  let asked: { readonly atMs: number; readonly answer: Promise<Discovery> } | undefined;
  const discovery = async (isFresh = false): Promise<Discovery> => {
    const nowMs = clock.monotonicMs();
    if (!asked || isFresh || nowMs - asked.atMs > DISCOVERY_FRESH_MS) {
      const answer = discover(client);
      const mine = { atMs: nowMs, answer };
      asked = mine;
      answer.catch(() => {
        if (asked === mine) asked = undefined;
      });
    }
    return asked.answer;
  };
  const scopes = new ListScopes({
    client,
    clock,
    namespace: config.namespace,
    resources: async () => (await discovery()).resources,
  });
  return {
    config,
    client,
    reader: reader ?? client,
    expiresAtMs: await clientExpiryMs(config),
    discovery,
    listScope: (resource) => scopes.of(resource),
    async serverVersion() {
      const { gitVersion } = await client.json<{ gitVersion?: unknown }>({ method: 'GET', path: '/version' });
      return typeof gitVersion === 'string' ? gitVersion : '';
    },
    dispose() {
      reader?.dispose();
      client.dispose();
    },
  };
};

/** Changes when the kubeconfig was edited or replaced, and with a sign-in: then the credentials may be others. */
const stampOf = async (entry: ClusterEntry, signedIn: number): Promise<string> => {
  const file = await stat(entry.kubeconfigPath).catch(() => undefined);
  return [entry.server, entry.user, file?.mtimeMs, file?.size, file?.ino, signedIn].join('\n');
};

export const createConnections = (options: ConnectionsOptions): Connections => {
  const opened = new Map<string, Opened>();

  const close = (id: string): void => {
    const found = opened.get(id);
    opened.delete(id);
    void found?.connection.then(
      (connection) => connection.dispose(),
      () => undefined,
    );
  };

  const entryOf = async (id: string): Promise<ClusterEntry> => {
    const { clusters } = await options.clusters.list();
    const entry = clusters.find((candidate) => candidate.id === id);
    if (entry) return entry;
    close(id);
    throw new ContractError('NotFound', say('failure.noCluster', { id }));
  };

  const connectionOf = async (entry: ClusterEntry): Promise<ClusterConnection> => {
    const stamp = await stampOf(entry, options.signIns.version);
    const known = opened.get(entry.id);
    if (known?.stamp === stamp) {
      // Most recently used last: the first of the map is the one to close.
      opened.delete(entry.id);
      opened.set(entry.id, known);
      return known.connection;
    }
    close(entry.id);
    for (const oldest of opened.keys()) {
      if (opened.size < CONNECTIONS_MAX) break;
      close(oldest);
    }
    const connection = connectCluster(entry, options).catch((error: unknown) => {
      if (opened.get(entry.id)?.connection === connection) opened.delete(entry.id);
      throw kubeFailure(error);
    });
    opened.set(entry.id, { stamp, connection });
    return connection;
  };

  const openEntry = async (entry: ClusterEntry): Promise<ClusterConnection> => {
    const connection = await connectionOf(entry);
    assertNotExpired(entry, connection.expiresAtMs, options.clock.nowMs());
    return connection;
  };

  return {
    async configured(id) {
      const entry = await entryOf(id);
      return { entry, config: await configOf(entry) };
    },
    open: async (id) => openEntry(await entryOf(id)),
    async openForWriting(id) {
      const entry = await entryOf(id);
      if (entry.readOnly)
        throw new ContractError('Forbidden', say('failure.readOnly', { cluster: entry.name }));
      return openEntry(entry);
    },
    dispose() {
      for (const id of [...opened.keys()]) close(id);
    },
  };
};
