import { ReasonError } from '../../base/errors.ts';
import { isNotFound } from '../../api/meta/index.ts';
import { parseCidr } from '../../api/validation/ip.ts';
import { NODE, type Node, type Stored } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { CidrSet } from './cidr-set.ts';

/** One: two workers could give the last part of a range to two nodes of which one then has none. */
const WORKERS = 1;
const IPV6_MASK_LENGTH = 64;

const cidrsOf = ({ spec }: Node): string[] =>
  (spec?.podCIDRs ?? []).length > 0 ? spec!.podCIDRs! : spec?.podCIDR ? [spec.podCIDR] : [];

const setsFrom = (settings: ControllerSettings): CidrSet[] =>
  settings['cluster-cidr']
    .split(',')
    .filter((text) => text !== '')
    .map((text) => {
      const range = parseCidr(text.trim());
      if (!range)
        throw new ReasonError('BadConfiguration', `--cluster-cidr: ${text} is not a range of addresses`);
      return new CidrSet(range, range.family === 4 ? settings['node-cidr-mask-size'] : IPV6_MASK_LENGTH);
    });

/** Gives every node its part of the range of pod addresses. */
export const nodeIpamController: ControllerDefinition<ControllerSettings> = {
  name: 'node-ipam-controller',
  aliases: ['nodeipam'],
  serviceAccount: 'node-controller',
  isOnByDefault: true,
  create(context, settings) {
    if (!settings['allocate-node-cidrs']) return undefined;
    const { client, informers, events } = context;
    const sets = setsFrom(settings);
    for (const cidr of settings['service-cluster-ip-range'].split(','))
      for (const set of sets) set.occupy(cidr);
    const nodes = informers.informer(NODE);
    /** What each node holds, so that a deletion gives back exactly that. Bounded by the number of nodes. */
    const held = new Map<string, readonly string[]>();

    const occupy = (node: Stored<Node>): void => {
      const cidrs = cidrsOf(node);
      if (cidrs.length === 0) return;
      held.set(node.metadata.name, cidrs);
      for (const cidr of cidrs) for (const set of sets) set.occupy(cidr);
    };
    const release = (name: string): void => {
      for (const cidr of held.get(name) ?? []) for (const set of sets) set.release(cidr);
      held.delete(name);
    };

    const allocate = async (node: Stored<Node>): Promise<void> => {
      const { name, uid } = node.metadata;
      // Taken by a try whose answer was lost: the node keeps them.
      const kept = held.get(name);
      const cidrs = kept ?? sets.map((set) => set.allocate());
      if (!cidrs.every((cidr) => cidr !== undefined)) {
        for (const [index, cidr] of cidrs.entries()) if (cidr !== undefined) sets[index]!.release(cidr);
        events.event(node, 'Normal', 'CIDRNotAvailable', `Node ${name} status is now: CIDRNotAvailable`);
        throw new Error(`failed to allocate cidr from cluster cidr for node ${name}: all of it is taken`);
      }
      held.set(name, cidrs);
      const body = { metadata: { uid }, spec: { podCIDR: cidrs[0], podCIDRs: cidrs } };
      try {
        await client.resource(NODE).patch(name, { type: 'strategic', body });
      } catch (error) {
        if (isNotFound(error)) return release(name);
        events.event(
          node,
          'Normal',
          'CIDRAssignmentFailed',
          `Node ${name} status is now: CIDRAssignmentFailed`,
        );
        throw error;
      }
    };

    const loop = workLoop(context, {
      name: 'cidrallocator_node',
      workers: WORKERS,
      async handle(name) {
        const node = nodes.store.get(name);
        if (!node) return release(name);
        if (cidrsOf(node).length > 0) occupy(node);
        else await allocate(node);
      },
    });
    nodes.addHandler({
      // Before any is allocated, all that are in use must be known: the first list comes before `run`.
      added: (node) => {
        occupy(node);
        loop.queue.add(node.metadata.name);
      },
      updated: (before, node) => {
        if (before.metadata.uid !== node.metadata.uid) release(node.metadata.name);
        if (cidrsOf(node).length === 0 || before.metadata.uid !== node.metadata.uid)
          loop.queue.add(node.metadata.name);
      },
      deleted: ({ metadata }) => loop.queue.add(metadata.name),
    });
    return loop;
  },
};
