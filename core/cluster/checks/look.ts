import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { systemRandom } from '../../base/node/random.ts';
import { connect, loadOwnKubeconfig, type Client } from '../../client/index.ts';
import type { ClusterConfig } from '../config/config.ts';
import { planHosts, type HostPlan } from '../config/hosts.ts';
import { adminKubeconfigFile } from '../data-folder/layout.ts';
import { etcdAccessOf, listMembers, type EtcdAccess, type MemberView } from '../etcd-operator/operations.ts';
import type { CheckItem, Judged } from './item.ts';
import { commandOf } from '../data-folder/in-flight-limits.ts';
import {
  openClusterAccess,
  type Answer,
  type ClusterAccess,
  type Trust,
} from '../monitor/scrape/cluster-access.ts';
import { readMeasures, type Reading } from '../monitor/scrape/reading.ts';
import { targetsOf, type Target } from '../monitor/scrape/targets.ts';

/** Asked once, so a busy machine is waited for longer than a sampler may. */
const ANSWER_MS_MAX = 10_000;

/** What the items of the checklist look at, each thing once. */
export interface Look extends Disposable {
  readonly dataDirectory: string;
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly controlPlanes: readonly HostPlan[];
  readonly etcdHosts: readonly HostPlan[];
  readonly access: ClusterAccess;
  readonly client: Client;
  readonly etcd: EtcdAccess;
  /** The command line in a host's manifest; empty where there is none. */
  command(host: string, component: string): Promise<readonly string[]>;
  /** The command lines of all API servers. */
  apiServers(): Promise<readonly (readonly string[])[]>;
  members(): Promise<readonly MemberView[]>;
  readonly targets: readonly Target[];
  /** The pages of a target; rejects when it does not respond. */
  pages(target: Target): Promise<readonly string[]>;
  reading(target: Target): Promise<Reading>;
  /** What an item measures, measured once for all that ask. */
  once(item: CheckItem): Promise<Judged>;
}

export interface LookOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly log: Log;
}

const remember = <A extends string, R>(load: (key: A) => Promise<R>): ((key: A) => Promise<R>) => {
  const known = new Map<A, Promise<R>>();
  return (key) => {
    const found = known.get(key) ?? load(key);
    known.set(key, found);
    return found;
  };
};

const expect200 = ({ status, text }: Answer, url: string): string => {
  if (status === 200) return text;
  throw new ReasonError('Refused', `${url} returned ${status}`);
};

/** Opens what measuring takes; the caller disposes it. */
export const openLook = async (dataDirectory: string, { config, clock, log }: LookOptions): Promise<Look> => {
  const owned = new DisposableStore();
  const etcd = etcdAccessOf(dataDirectory, config);
  // As the administrator: what even that one is refused is refused to everybody.
  const kubeconfigFile = adminKubeconfigFile(dataDirectory);
  const opened = owned.add(
    openClusterAccess({ directory: dataDirectory, kubeconfigFile, etcdTls: () => etcd.tls }),
  );
  const access: ClusterAccess = {
    ask: (request) => opened.ask({ timeoutMs: ANSWER_MS_MAX, ...request }),
    dispose: () => opened.dispose(),
  };
  const client = owned.add(
    connect(await loadOwnKubeconfig(kubeconfigFile), {
      clock,
      random: systemRandom,
      log,
      userAgent: 'pilothouse-check',
      timeoutMs: ANSWER_MS_MAX,
    }),
  );
  const hosts = planHosts(config);
  const controlPlanes = hosts.filter(({ role }) => role === 'control-plane');
  const targets = targetsOf(config);
  const command = remember((key: string) => {
    const [host = '', component = ''] = key.split('/');
    return commandOf(dataDirectory, host, component);
  });
  const members = remember((_key: 'all') => listMembers(etcd));
  const page = remember(async (key: string) => {
    const [trust, url] = key.split(' ') as [Trust, string];
    return expect200(await access.ask({ url, trust }), url);
  });
  const pages = ({ urls, trust }: Target): Promise<readonly string[]> =>
    Promise.all(urls.map((url) => page(`${trust} ${url}`)));
  const measured = new Map<string, Promise<Judged>>();
  const look: Look = {
    dataDirectory,
    config,
    clock,
    controlPlanes,
    etcdHosts: hosts.filter((host) => host.etcd),
    access,
    client,
    etcd,
    command: (host, component) => command(`${host}/${component}`),
    apiServers: () => Promise.all(controlPlanes.map(({ name }) => command(`${name}/kube-apiserver`))),
    members: () => members('all'),
    targets,
    pages,
    reading: async (target) => readMeasures(target.component, await pages(target), clock.monotonicMs()),
    once(item) {
      const known = measured.get(item.id) ?? item.measure(look);
      measured.set(item.id, known);
      return known;
    },
    dispose: () => owned.dispose(),
  };
  return look;
};
