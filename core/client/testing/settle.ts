export interface SettleOptions {
  /** Turns of the event loop without activity after which all is taken to be done. */
  readonly quietTurns?: number;
  readonly turnsMax?: number;
}

const QUIET_TURNS = 3;
const TURNS_MAX = 10_000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Waits until a counter of activity stands still. Everything on the fake runs in microtasks, so a turn in which
 * nothing moved means that all wait for the clock. Throws when it never comes to rest: a loop without a pause.
 */
export const settle = async (activity: () => number, options: SettleOptions = {}): Promise<void> => {
  const { quietTurns = QUIET_TURNS, turnsMax = TURNS_MAX } = options;
  let quiet = 0;
  let seen = activity();
  for (let turns = 0; quiet < quietTurns; turns += 1) {
    if (turns >= turnsMax) throw new Error(`not settled after ${turnsMax} turns of the event loop`);
    await turn();
    quiet = activity() === seen ? quiet + 1 : 0;
    seen = activity();
  }
};
