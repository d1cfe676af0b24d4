import { POD, SERVICE } from '../../../client/index.ts';
import { strangersKeySpace, type Way } from '../etcd-probe.ts';
import { stateOrNone } from '../gather.ts';
import { say, together, type Said } from '../../../contract/index.ts';
import { bad, ok, someOf, type CheckItem } from '../item.ts';
import { componentPlaces, sortSockets, userPorts, type SortedSockets } from '../listeners.ts';
import { listeningSockets, socketsOfProcess, type ListeningSocket } from '../listening.ts';
import type { Look } from '../look.ts';

/** Ports that are tried at the same time. */
const PROBES_AT_ONCE = 8;
/** A cluster of thousands of pods has as many ports; those of components come first. */
const PROBED_PORTS_MAX = 512;

const placeOf = ({ address, port }: ListeningSocket): string => `${address}:${port}`;

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

/** Every place that gives etcd's keys to a stranger. */
const openKeySpaces = async (places: readonly string[]): Promise<Said[]> => {
  const waiting = places.slice(0, PROBED_PORTS_MAX);
  const found: { place: string; way: Way }[] = [];
  const worker = async (): Promise<void> => {
    for (let place = waiting.shift(); place !== undefined; place = waiting.shift()) {
      const at = place.lastIndexOf(':');
      const ways = await strangersKeySpace(place.slice(0, at), Number(place.slice(at + 1)));
      found.push(...ways.map((way) => ({ place, way })));
    }
  };
  await Promise.all(Array.from({ length: PROBES_AT_ONCE }, worker));
  return found
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ place, way }) => say(`found.noExposure.key.${way}`, { place }));
};

/** The load balancer listens in the process that supervises the hosts, which may be an app with much else open. */
const isOfSupervisor = (places: ReadonlyMap<string, string>, socket: ListeningSocket): boolean =>
  places.get(placeOf(socket)) === 'load balancer';

const problemsOf = (sockets: SortedSockets, places: ReadonlyMap<string, string>): readonly Said[] => {
  const beyond = sockets.beyondLoopback.map(placeOf);
  const foreign = sockets.foreign.filter((socket) => !isOfSupervisor(places, socket)).map(placeOf);
  const unexpected = sockets.unexpected.map(placeOf).filter((place) => !foreign.includes(place));
  return [
    ...(beyond.length > 0 ? [say('found.noExposure.beyond', { places: someOf(beyond) })] : []),
    ...(foreign.length > 0 ? [say('found.noExposure.foreign', { places: someOf(foreign) })] : []),
    ...(unexpected.length > 0 ? [say('found.noExposure.undeclared', { places: someOf(unexpected) })] : []),
  ];
};

export const exposure: CheckItem = {
  id: 'noExposure',
  async measure(look) {
    const components = componentPlaces(look.config);
    const sockets = await sortedSockets(look);
    const reachable = (sockets?.own ?? []).filter(({ protocol }) => protocol === 'TCP').map(placeOf);
    const places = [...new Set([...components.keys(), ...reachable])];
    const open = await openKeySpaces(places);
    const problems = [
      ...(open.length > 0 ? [say('found.noExposure.keys', { places: open })] : []),
      ...(sockets ? problemsOf(sockets, components) : []),
    ];
    if (problems.length > 0) return bad(together(problems), say('advice.noExposure'));
    const count = Math.min(places.length, PROBED_PORTS_MAX);
    return ok(say(sockets ? 'found.noExposure.ok' : 'found.noExposure.partly', { count }));
  },
};
