import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { wait } from '../../base/wait.ts';
import { isAlreadyExists, isConflict, isNotFound, type KubernetesObject } from '../../api/meta/index.ts';
import type { ObjectWriter } from '../bootstrap/object-writer.ts';
import { API_SERVICES } from './api-service.ts';
import { KeyedLoop } from './keyed-loop.ts';
import { localApiServices, registrationStep, type LocalGroupVersion } from './local-api-services.ts';

const AT_ONCE_MAX = 5;
const RETRY_MS_MIN = 5;
const RETRY_MS_MAX = 60_000;
/** Servers of a new cluster start together; anyone who creates the first object creates the rest. */
const TURN_MS_MAX = 3_000;
const TURN_POLL_MS = 50;

export interface RegistrationOptions {
  readonly writer: ObjectWriter;
  readonly clock: Clock;
  readonly log: Log;
  /** What this server answers itself, now. */
  served(): readonly LocalGroupVersion[];
  current(name: string): KubernetesObject | undefined;
  currentNames(): readonly string[];
}

export interface Registration extends Disposable {
  /** The APIService of this name changed. */
  touch(name: string): void;
  /** What is served changed. */
  refresh(): void;
}

/** Keeps an APIService for every group version that this server answers itself. Begin when the objects are known. */
export const startRegistration = (options: RegistrationOptions): Registration => {
  const { writer, clock, log } = options;
  const owned = new DisposableStore();
  const stop = new AbortController();
  owned.defer(() => stop.abort());
  const thereAtStart = new Set(options.currentNames());
  const synced = new Set<string>();
  let desired = localApiServices(options.served());

  const write = async (name: string): Promise<void> => {
    const [want, current] = [desired.get(name), options.current(name)];
    const state = { desired: want, current };
    switch (
      registrationStep({ ...state, hasSynced: synced.has(name), wasThereAtStart: thereAtStart.has(name) })
    ) {
      case 'create':
        await writer.create(API_SERVICES, want!);
        break;
      case 'update':
        await writer.update(API_SERVICES, { ...current!, spec: want!['spec'] });
        break;
      case 'delete':
        await writer.delete(API_SERVICES, '', name, current!.metadata?.uid);
        break;
      case 'none':
        break;
    }
  };

  const loop = owned.add(
    new KeyedLoop({
      clock,
      atOnceMax: AT_ONCE_MAX,
      retryMsMin: RETRY_MS_MIN,
      retryMsMax: RETRY_MS_MAX,
      async work(name) {
        try {
          await write(name);
        } catch (error) {
          // Written by another server in the meantime: its event brings the name here again.
          if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error)) {
            log.write('warn', 'an APIService could not be registered', { name, error: messageOf(error) });
            throw error;
          }
        }
        synced.add(name);
        if (!desired.has(name) && options.current(name) === undefined) {
          loop.forget(name);
          synced.delete(name);
        }
      },
    }),
  );

  const wakeAll = (): void => {
    for (const name of new Set([...desired.keys(), ...options.currentNames()])) loop.wake(name);
  };

  /** True for the server that creates the objects of a new cluster; the others wait until the last one is there. */
  const awaitTurn = async (): Promise<void> => {
    const [first, last] = [[...desired.keys()][0], [...desired.keys()].at(-1)];
    if (first === undefined || last === undefined || options.current(first) !== undefined) return;
    try {
      await writer.create(API_SERVICES, desired.get(first)!);
      return;
    } catch (error) {
      if (!isAlreadyExists(error)) return;
    }
    const untilMs = clock.monotonicMs() + TURN_MS_MAX;
    while (options.current(last) === undefined && clock.monotonicMs() < untilMs && !stop.signal.aborted)
      await wait(clock, TURN_POLL_MS, stop.signal);
  };

  let isBegun = false;
  void awaitTurn().then(() => {
    isBegun = true;
    wakeAll();
  });

  return {
    touch(name) {
      if (isBegun) loop.wake(name);
    },
    refresh() {
      desired = localApiServices(options.served());
      if (isBegun) wakeAll();
    },
    dispose: () => owned.dispose(),
  };
};
