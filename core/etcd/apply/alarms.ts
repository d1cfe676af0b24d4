import type { Backend } from '../mvcc/backend/backend.ts';
import { ALARM_TYPE, AlarmMember, type AlarmRequest } from '../proto/index.ts';

const ROWS_MAX = 1024;
const NOTHING = Buffer.alloc(0);

/** Which members have raised which alarm. Kept as etcd keeps it: the alarm itself is the key. */
export class Alarms {
  #backend: Backend;
  #raised: AlarmMember[] = [];

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#load();
  }

  /** Takes over what another backend holds. */
  restore(backend: Backend): void {
    this.#backend = backend;
    this.#load();
  }

  isRaised(alarm: AlarmMember['alarm']): boolean {
    return this.#raised.some((raised) => raised.alarm === alarm);
  }

  /** Those of one kind and member; NONE and 0 stand for all. */
  list(alarm: AlarmRequest['alarm'], memberId: bigint = 0n): AlarmMember[] {
    return this.#raised.filter(
      (raised) =>
        (alarm === ALARM_TYPE.NONE || raised.alarm === alarm) &&
        (memberId === 0n || raised.memberID === memberId),
    );
  }

  raise(alarm: AlarmMember): AlarmMember {
    const same = this.#find(alarm);
    if (same !== undefined) return same;
    this.#raised.push(alarm);
    this.#backend.put('alarm', AlarmMember.encode(alarm), NOTHING);
    return alarm;
  }

  clear(alarm: AlarmMember): AlarmMember | undefined {
    const same = this.#find(alarm);
    if (same === undefined) return undefined;
    this.#raised = this.#raised.filter((raised) => raised !== same);
    this.#backend.delete('alarm', AlarmMember.encode(same));
    return same;
  }

  #find(alarm: AlarmMember): AlarmMember | undefined {
    return this.#raised.find((raised) => raised.memberID === alarm.memberID && raised.alarm === alarm.alarm);
  }

  #load(): void {
    this.#raised = this.#backend
      .range('alarm', NOTHING, undefined, ROWS_MAX)
      .map(({ key }) => AlarmMember.decode(key));
  }
}
