import { POD, SERVICE } from '../../../client/index.ts';
import { strangersKeySpace } from '../etcd-probe.ts';
import { stateOrNone } from '../gather.ts';
import { bad, ok, plural, type CheckItem } from '../item.ts';
import { componentPlaces, sortSockets, userPorts, type SortedSockets } from '../listeners.ts';
import { listeningSockets, socketsOfProcess, type ListeningSocket } from '../listening.ts';
import type { Look } from '../look.ts';

/** Ports that are tried at the same time. */
const PROBES_AT_ONCE = 8;
/** A cluster of thousands of pods has as many ports; those of components come first. */
const PROBED_PORTS_MAX = 512;
const NAMED_MAX = 5;

const placeOf = ({ address, port }: ListeningSocket): string => `${address}:${port}`;

const listed = (places: readonly string[]): string => {
  const more = places.length - NAMED_MAX;
  return more > 0 ? `${places.slice(0, NAMED_MAX).join(', ')} and ${more} more` : places.join(', ');
};

/** Twice, so that a socket which is being bound or connected is not taken for a listener. */
const settledSockets = async (): Promise<readonly ListeningSocket[] | undefined> => {
  const first = await listeningSockets();
  const inodes = new Set((await listeningSockets())?.map(({ inode }) => inode));
  return first?.filter(({ inode }) => inodes.has(inode));
};

/** Inodes of the hosts and of anyone who supervises them; undefined where a host's cannot be read. */
const clusterInodes = async (dataDirectory: string): Promise<ReadonlySet<string> | undefined> => {
  const pids = (await stateOrNone(dataDirectory))?.hosts.flatMap(({ pid }) => pid ?? []) ?? [];
  const sets = await Promise.all(pids.map(socketsOfProcess));
  if (sets.length === 0 || sets.some(({ size }) => size === 0)) return undefined;
  return new Set(sets.flatMap((set) => [...set]));
};

const sortedSockets = async (look: Look): Promise<SortedSockets | undefined> => {
  const sockets = await settledSockets();
  if (sockets === undefined) return undefined;
  const [services, pods] = await Promise.all([
    look.client.resource(SERVICE).list(),
    look.client.resource(POD).list(),
  ]);
  return sortSockets(sockets, {
    config: look.config,
    inodes: await clusterInodes(look.dataDirectory),
    userPorts: userPorts(services.items, pods.items),
  });
};

/** `127.20.0.1:2381 in plain text`, for every place that gives etcd's keys to a stranger. */
const openKeySpaces = async (places: readonly string[]): Promise<readonly string[]> => {
  const waiting = places.slice(0, PROBED_PORTS_MAX);
  const found: string[] = [];
  const worker = async (): Promise<void> => {
    for (let place = waiting.shift(); place !== undefined; place = waiting.shift()) {
      const at = place.lastIndexOf(':');
      const ways = await strangersKeySpace(place.slice(0, at), Number(place.slice(at + 1)));
      found.push(...ways.map((way) => `${place} ${way}`));
    }
  };
  await Promise.all(Array.from({ length: PROBES_AT_ONCE }, worker));
  return found.sort();
};

/** The load balancer listens in the process that supervises the hosts, which may be an app with much else open. */
const isOfSupervisor = (places: ReadonlyMap<string, string>, socket: ListeningSocket): boolean =>
  places.get(placeOf(socket)) === 'load balancer';

const problemsOf = (sockets: SortedSockets, places: ReadonlyMap<string, string>): readonly string[] => {
  const beyond = sockets.beyondLoopback.map(placeOf);
  const foreign = sockets.foreign.filter((socket) => !isOfSupervisor(places, socket)).map(placeOf);
  const unexpected = sockets.unexpected.map(placeOf).filter((place) => !foreign.includes(place));
  return [
    ...(beyond.length > 0 ? [`reachable from other machines: ${listed(beyond)}`] : []),
    ...(foreign.length > 0 ? [`a process of another program listens on ${listed(foreign)}`] : []),
    ...(unexpected.length > 0 ? [`no component or object declares ${listed(unexpected)}`] : []),
  ];
};

export const exposure: CheckItem = {
  id: 'noExposure',
  title: "No port gives a stranger etcd's keys",
  async measure(look) {
    const components = componentPlaces(look.config);
    const sockets = await sortedSockets(look);
    const reachable = (sockets?.own ?? []).filter(({ protocol }) => protocol === 'TCP').map(placeOf);
    const places = [...new Set([...components.keys(), ...reachable])];
    const open = await openKeySpaces(places);
    const problems = [
      ...(open.length > 0 ? [`etcd's keys are served to strangers on ${listed(open)}`] : []),
      ...(sockets ? problemsOf(sockets, components) : []),
    ];
    if (problems.length > 0)
      return bad(
        problems.join('; '),
        'stop what listens there, or take the flag that opens it out of the manifest',
      );
    const tried = `${plural(Math.min(places.length, PROBED_PORTS_MAX), 'port')} tried for etcd's keys without credentials, none gives them`;
    return sockets
      ? ok(`${tried}; nothing else listens, and nothing beyond loopback`)
      : ok(`${tried}; this system does not tell which ports are open`);
  },
};
