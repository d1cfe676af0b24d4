import { say, type EtcdEvent, type EtcdView } from '../../../contract/index.ts';
import type { Draft, Observation } from '../draft.ts';

const NO_LEADER = 'noLeader';

/** Events of the quorum as entries; a time without a leader is a span. */
export const quorumChanges = (
  events: readonly EtcdEvent[],
  { members }: Pick<EtcdView, 'members'>,
): readonly Observation[] =>
  events.flatMap(({ atMs, kind, member, term }): Observation[] => {
    const host = members.find(({ name }) => name === member)?.host ?? '';
    const base = {
      lane: 'etcd',
      about: [...new Set([member, host])].filter((name) => name !== ''),
      source: '/raft',
      atMs,
    } as const;
    const moment = (draft: Pick<Draft, 'kind' | 'severity' | 'text'>): Draft => ({ ...base, ...draft });
    switch (kind) {
      case 'leader':
        return [
          { end: NO_LEADER },
          moment({
            kind: 'leaderElected',
            severity: 'info',
            text: say('timeline.leaderElected', { member, term: `${term}` }),
          }),
        ];
      case 'leaderLost':
        return [
          {
            ...moment({
              kind: 'noLeader',
              severity: 'error',
              text: say('timeline.noLeader', { member, term: `${term}` }),
            }),
            span: NO_LEADER,
          },
        ];
      case 'memberUp':
        return [moment({ kind, severity: 'ok', text: say('timeline.memberUp', { member }) })];
      case 'memberDown':
        return [moment({ kind, severity: 'error', text: say('timeline.memberDown', { member }) })];
      case 'memberAdded':
      case 'memberRemoved':
        return [moment({ kind, severity: 'info', text: say(`timeline.${kind}`, { member }) })];
      case 'alarm':
        return [
          {
            ...moment({
              kind: 'etcdAlarm',
              severity: 'error',
              text: say('timeline.etcdAlarm', { alarm: member }),
            }),
            about: [member.split(' ')[0] ?? member],
            span: `alarm/${member}`,
          },
        ];
      case 'alarmOver':
        return [{ end: `alarm/${member}` }];
    }
  });
