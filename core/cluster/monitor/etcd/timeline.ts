import { TIMELINE_EVENTS_MAX, type EtcdEvent, type EtcdView } from '../../../contract/index.ts';

/** What the timeline remembers of the quorum between two looks. */
export interface QuorumMemory {
  /** By member; whether it answered. Undefined before the first look that knew a member. */
  readonly members: ReadonlyMap<string, boolean> | undefined;
  /** Empty while there is none. */
  readonly leader: string;
  readonly term: number;
  readonly leaderLostAtMs: number | undefined;
  /** `member alarm` */
  readonly alarms: ReadonlySet<string>;
}

export const NOTHING_SEEN: QuorumMemory = {
  members: undefined,
  leader: '',
  term: 0,
  leaderLostAtMs: undefined,
  alarms: new Set(),
};

const alarmKeys = ({ members }: EtcdView): ReadonlySet<string> =>
  new Set(members.flatMap(({ name, alarms }) => alarms.map((alarm) => `${name} ${alarm}`)));

/** What has happened since the last look. */
export const compareQuorum = (
  before: QuorumMemory,
  view: EtcdView,
): { readonly memory: QuorumMemory; readonly events: readonly EtcdEvent[] } => {
  const { atMs, members } = view;
  if (members.length === 0 && !before.members) return { memory: before, events: [] };
  const events: EtcdEvent[] = [];
  const term = Math.max(before.term, ...members.map(({ raftTerm }) => raftTerm));
  const tell = (kind: EtcdEvent['kind'], member: string, durationMs: number | null = null): void =>
    void events.push({ atMs, kind, member, term, durationMs });

  const up = new Map(members.map(({ name, role }) => [name, role !== 'unreachable']));
  for (const name of before.members?.keys() ?? []) if (!up.has(name)) tell('memberRemoved', name);
  for (const [name, isUp] of up) {
    const wasUp = before.members?.get(name);
    if (before.members && wasUp === undefined) tell('memberAdded', name);
    if (isUp && wasUp !== true) tell('memberUp', name);
    if (!isUp && wasUp === true) tell('memberDown', name);
  }

  const leader = members.find(({ role }) => role === 'leader')?.name ?? '';
  let { leaderLostAtMs } = before;
  if (leader === '' && before.leader !== '') {
    leaderLostAtMs = atMs;
    tell('leaderLost', before.leader);
  }
  if (leader !== '' && leader !== before.leader) {
    tell('leader', leader, leaderLostAtMs === undefined ? null : atMs - leaderLostAtMs);
    leaderLostAtMs = undefined;
  }

  const alarms = alarmKeys(view);
  // A member that does not answer does not end its alarm.
  const isAnyUp = [...up.values()].includes(true);
  const kept = isAnyUp ? alarms : before.alarms;
  for (const key of kept) if (!before.alarms.has(key)) tell('alarm', key);
  for (const key of before.alarms) if (!kept.has(key)) tell('alarmOver', key);
  return { memory: { members: up, leader, term, leaderLostAtMs, alarms: kept }, events };
};

/** The newest events, oldest first. */
export const rememberEvents = (
  events: readonly EtcdEvent[],
  more: readonly EtcdEvent[],
): readonly EtcdEvent[] => [...events, ...more].slice(-TIMELINE_EVENTS_MAX);
