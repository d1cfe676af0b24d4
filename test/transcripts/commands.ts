import type { MemberChange } from '../../core/raft/configuration.ts';
import type { MemberId } from '../../core/raft/types.ts';
import type { RaftBounds } from '../../core/raft/bounds.ts';
import { DEFAULT_BOUNDS } from '../../core/raft/bounds.ts';
import type { World } from './world.ts';

type Command = (world: World, args: readonly string[], trace: (line: string) => void) => void;

const idOf = (word: string | undefined): MemberId => {
  const id = Number(word);
  if (!Number.isInteger(id) || id < 1) throw new Error(`${word} is no member`);
  return id;
};

/** No ids means all. */
const idsOf = (world: World, words: readonly string[]): MemberId[] =>
  words.length === 0 ? world.ids : words.map(idOf);

const CHANGES: Record<string, MemberChange['kind']> = { '+': 'addVoter', '~': 'addLearner', '-': 'remove' };

const changeOf = (word: string): MemberChange => {
  const kind = CHANGES[word.charAt(0)];
  if (kind === undefined) throw new Error(`${word} is no change: +id, ~id or -id`);
  return { kind, id: idOf(word.slice(1)) };
};

const boundOf = (word: string): Partial<RaftBounds> => {
  const [name = '', value] = word.split('=');
  if (!(name in DEFAULT_BOUNDS)) throw new Error(`${name} is no bound`);
  return { [name]: Number(value) };
};

export const COMMANDS: Record<string, Command> = {
  /** bounds name=value ...: before the members are made. */
  bounds: (world, args) => {
    for (const word of args) world.bounds = { ...world.bounds, ...boundOf(word) };
  },
  /** members 1 2 3: the first members, all voters. */
  members: (world, args) => world.found(args.map(idOf)),
  /** join 4: an empty member, which takes part when a change names it. */
  join: (world, args) => world.join(idOf(args[0])),
  campaign: (world, args) => world.member(idOf(args[0])).core.campaign(),
  'forget-leader': (world, args) => {
    for (const id of args.map(idOf)) world.member(id).core.forgetLeader();
  },
  /** tick 10 [ids] */
  tick: (world, [count, ...ids]) => world.tick(idsOf(world, ids), Number(count)),
  /** propose 1 text [times] */
  propose: (world, [at, text = '', times = '1'], trace) => {
    const results = Array.from({ length: Number(times) }, (_, i) =>
      world.propose(idOf(at), Number(times) > 1 ? `${text}${i + 1}` : text),
    );
    for (const result of new Set(results)) trace(result);
  },
  /** change 1 +4 ~5 -2: voter, learner, removal, proposed at member 1. */
  change: (world, [at, ...changes], trace) => trace(world.changeMembers(idOf(at), changes.map(changeOf))),
  /** read 1 context */
  read: (world, [at, context], trace) => {
    const refusal = world.member(idOf(at)).core.readIndex(Number(context));
    if (refusal !== undefined) trace(`refused: ${refusal}`);
  },
  /** transfer 1 2: from the leader 1 to 2. */
  transfer: (world, [from, to], trace) => {
    const refusal = world.member(idOf(from)).core.transferLeader(idOf(to));
    if (refusal !== undefined) trace(`refused: ${refusal}`);
  },
  deliver: (world) => void world.deliver(),
  stabilize: (world) => world.stabilize(),
  /** lose [to] */
  lose: (world, args) => world.lose(args.length > 0 ? idOf(args[0]) : undefined),
  /** partition 1 | 2 3 */
  partition: (world, args) =>
    world.partition(
      args
        .join(' ')
        .split('|')
        .map((group) => group.trim().split(/\s+/).map(idOf)),
    ),
  heal: (world) => world.partition([]),
  'hold-disk': (world, args) => {
    for (const id of args.map(idOf)) world.member(id).diskHeld = true;
  },
  'release-disk': (world, args) => {
    for (const id of args.map(idOf)) {
      world.member(id).diskHeld = false;
      world.member(id).finishWrite();
    }
  },
  'hold-apply': (world, args) => {
    for (const id of args.map(idOf)) world.member(id).applyHeld = true;
  },
  'release-apply': (world, args) => {
    for (const id of args.map(idOf)) {
      world.member(id).applyHeld = false;
      world.member(id).applyAll();
    }
  },
  crash: (world, args) => world.crash(idOf(args[0])),
  restart: (world, args) => world.restart(idOf(args[0])),
  /** compact 1 index */
  compact: (world, [at, index]) => world.member(idOf(at)).compactTo(Number(index)),
  /** report-snapshot 1 3 ok: how the transfer from 1 to 3 ended. */
  'report-snapshot': (world, [at, to, outcome]) =>
    world.member(idOf(at)).core.reportSnapshot(idOf(to), outcome === 'ok'),
  'report-unreachable': (world, [at, to]) => world.member(idOf(at)).core.reportUnreachable(idOf(to)),
  status: (world, args) => world.status(idsOf(world, args)),
  log: (world, args) => world.log(idOf(args[0])),
};
