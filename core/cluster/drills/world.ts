import { parseApiVersion, type KubernetesObject } from '../../api/meta/index.ts';
import { silentLog } from '../../base/log.ts';
import { systemRandom } from '../../base/node/random.ts';
import {
  connect,
  loadOwnKubeconfig,
  RestMapper,
  type OwnedClient,
  type ResourceClient,
} from '../../client/index.ts';
import { SaidError, say } from '../../contract/index.ts';
import { adminKubeconfigFile, superAdminKubeconfigFile } from '../data-folder/layout.ts';
import { etcdAccessOf, listMembers } from '../etcd-operator/operations.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';

/** A broken cluster answers late or never. */
const QUESTION_MS_MAX = 5_000;
const WRITE_MS_MAX = 30_000;

/** The cluster of a drill, for one request. `dispose` closes its connections. */
export interface World {
  readonly supervisor: Supervisor;
  readonly data: string;
  readonly client: OwnedClient;
  objects(at: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace?: string | undefined;
  }): Promise<ResourceClient<KubernetesObject>>;
  dispose(): void;
}

/** `question`: asks, with every right and little patience. `setup`: writes with every right. `person`: as the admin. */
export const openWorld = async (
  supervisor: Supervisor,
  use: 'question' | 'setup' | 'person',
): Promise<World> => {
  const data = supervisor.folder.directory;
  const file = use === 'person' ? adminKubeconfigFile(data) : superAdminKubeconfigFile(data);
  const client = connect(await loadOwnKubeconfig(file), {
    clock: supervisor.clock,
    random: systemRandom,
    log: silentLog,
    userAgent: 'pilothouse-drill',
    timeoutMs: use === 'question' ? QUESTION_MS_MAX : WRITE_MS_MAX,
  });
  const mapper = new RestMapper(client, supervisor.clock);
  return {
    supervisor,
    data,
    client,
    async objects({ apiVersion, kind, namespace }) {
      const version = parseApiVersion(apiVersion);
      const found = version && (await mapper.ofKind({ ...version, kind }));
      if (!found) throw new SaidError('NotFound', say('drill.noKind', { kind, version: apiVersion }));
      return client.resource<KubernetesObject>(found, namespace);
    },
    dispose: () => client.dispose(),
  };
};

const KEYWORDS = ['control-planes', 'workers', 'leader', 'followers', 'broken'] as const;
const isKeyword = (on: string): on is (typeof KEYWORDS)[number] => KEYWORDS.some((one) => one === on);

/** The hosts that `on` names. `broken`: those that the setup acted on. */
export const hostsOn = async (
  supervisor: Supervisor,
  on: string,
  broken: readonly string[],
): Promise<readonly string[]> => {
  if (!isKeyword(on)) return [supervisor.host(on).plan.name];
  if (on === 'broken') return broken;
  const plans = supervisor.hosts.map(({ plan }) => plan);
  const ofRole = (role: string) => plans.filter((plan) => plan.role === role).map(({ name }) => name);
  if (on === 'control-planes') return ofRole('control-plane');
  if (on === 'workers') return ofRole('workers');
  const members = await listMembers(etcdAccessOf(supervisor.folder.directory, supervisor.config));
  const leader = members.find(({ isLeader }) => isLeader)?.name;
  const holders = plans.filter(({ etcd }) => etcd !== undefined);
  return holders.filter(({ etcd }) => (etcd?.name === leader) === (on === 'leader')).map(({ name }) => name);
};
