import type { Log } from '../../base/log.ts';
import type { MemberId } from '../../raft/types.ts';
import type { MemberConfig } from '../config/config.ts';
import { idText, type ClusterId, type MembershipChange } from '../membership/index.ts';
import { ALARM_ACTION, ALARM_TYPE, AlarmRequest } from '../proto/index.ts';
import { leadershipLines, membershipLines } from './leadership-lines.ts';
import type { MemberObserver } from './observer.ts';
import type { Leadership } from './raft-driver.ts';
import type { RequestEntry } from './request-entry.ts';

const MS_PER_SECOND = 1000;

export interface MemberNotesOptions {
  readonly config: Pick<MemberConfig, 'slowApplyMs' | 'heartbeatMs'>;
  readonly log: Log;
  readonly observer: MemberObserver;
}

/** What a member says of itself while it works: metrics, and etcd's own lines where operators search for them. */
export class MemberNotes {
  readonly #options: MemberNotesOptions;

  constructor(options: MemberNotesOptions) {
    this.#options = options;
  }

  /** One request was applied, or refused. */
  applied({ kind, payload }: RequestEntry, tookMs: number, isDone: boolean): void {
    const { config, observer, log } = this.#options;
    observer.requestApplied(kind, tookMs / MS_PER_SECOND, isDone);
    if (kind === 'alarm' && isDone) this.#alarm(AlarmRequest.decode(payload));
    const { slowApplyMs } = config;
    if (slowApplyMs === 0 || tookMs <= slowApplyMs) return;
    observer.applySlow();
    log.write('warn', 'apply request took too long', {
      took: `${tookMs.toFixed(1)}ms`,
      'expected-duration': `${slowApplyMs}ms`,
      request: kind,
      'request-bytes': payload.length,
    });
  }

  /** Of a leader. Followers wait an election timeout for a heartbeat; a late one is the first sign of an overload. */
  heartbeat(lateMs: number): void {
    const { config, observer, log } = this.#options;
    if (lateMs <= config.heartbeatMs) return;
    observer.heartbeatLate();
    log.write(
      'warn',
      'leader failed to send out heartbeat on time; took too long, leader is overloaded likely from slow disk',
      { 'heartbeat-interval': `${config.heartbeatMs}ms`, 'exceeded-duration': `${lateMs.toFixed(1)}ms` },
    );
  }

  leadership(id: MemberId, before: Leadership, next: Leadership): void {
    for (const line of leadershipLines(id, before, next)) this.#options.log.write('info', line);
  }

  membership(change: MembershipChange, own: { readonly id: MemberId; readonly clusterId: ClusterId }): void {
    for (const { text, fields } of membershipLines(change))
      this.#options.log.write('info', text, {
        'cluster-id': idText(own.clusterId),
        'local-member-id': idText(own.id),
        ...fields,
      });
  }

  #alarm({ action, alarm, memberID }: AlarmRequest): void {
    const name = Object.entries(ALARM_TYPE).find(([, type]) => type === alarm)?.[0];
    const text = action === ALARM_ACTION.ACTIVATE ? 'alarm raised' : 'alarm disarmed';
    this.#options.log.write('warn', text, { alarm: name, from: memberID.toString(16) });
  }
}
