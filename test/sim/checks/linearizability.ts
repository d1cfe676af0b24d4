/** One key as a register that may be absent. Values written are never written twice. */
export type RegisterOp =
  | { readonly kind: 'put'; readonly value: string }
  | { readonly kind: 'get'; readonly seen: string | undefined }
  /** `deleted` undefined: the answer got lost. */
  | { readonly kind: 'delete'; readonly deleted: boolean | undefined }
  /** Writes `value` if the key holds `expected`. `swapped` undefined: the answer got lost. */
  | {
      readonly kind: 'swap';
      readonly expected: string | undefined;
      readonly value: string;
      readonly swapped: boolean | undefined;
    };

export interface Operation {
  readonly op: RegisterOp;
  /** Stamps, all different: when it was called and when it was answered; Infinity when no one knows. */
  readonly calledAt: number;
  readonly answeredAt: number;
}

type State = string | undefined;

/** The state after the operation, or `impossible` when it could not have answered so. */
const IMPOSSIBLE = Symbol('impossible');

const step = (state: State, op: RegisterOp): State | typeof IMPOSSIBLE => {
  switch (op.kind) {
    case 'put':
      return op.value;
    case 'get':
      return op.seen === state ? state : IMPOSSIBLE;
    case 'delete':
      return op.deleted === undefined || op.deleted === (state !== undefined) ? undefined : IMPOSSIBLE;
    case 'swap': {
      const matches = state === op.expected;
      if (op.swapped !== undefined && op.swapped !== matches) return IMPOSSIBLE;
      return matches ? op.value : state;
    }
  }
};

interface Entry {
  readonly id: number;
  readonly op: RegisterOp;
  /** Of a call: its return. Undefined: this is a return, or the operation may never have happened. */
  match: Entry | undefined;
  readonly isCall: boolean;
  next: Entry | undefined;
  previous: Entry | undefined;
}

const entriesOf = (history: readonly Operation[]): Entry => {
  const points = history.flatMap(({ op, calledAt, answeredAt }, id) => {
    const back: Entry = { id, op, match: undefined, isCall: false, next: undefined, previous: undefined };
    const isAnswered = answeredAt !== Infinity;
    const call: Entry = {
      ...back,
      match: isAnswered ? back : undefined,
      isCall: true,
    };
    return isAnswered
      ? [
          { at: calledAt, entry: call },
          { at: answeredAt, entry: back },
        ]
      : [{ at: calledAt, entry: call }];
  });
  points.sort((a, b) => a.at - b.at);
  const head: Entry = {
    id: -1,
    op: { kind: 'get', seen: undefined },
    match: undefined,
    isCall: false,
    next: undefined,
    previous: undefined,
  };
  let last = head;
  for (const { entry } of points) {
    last.next = entry;
    entry.previous = last;
    last = entry;
  }
  return head;
};

const unlink = (entry: Entry): void => {
  entry.previous!.next = entry.next;
  if (entry.next !== undefined) entry.next.previous = entry.previous;
};
const relink = (entry: Entry): void => {
  entry.previous!.next = entry;
  if (entry.next !== undefined) entry.next.previous = entry;
};

/** Which operations are in, and the state they lead to: tried once, never tried again. */
const cacheKey = (done: Uint32Array, state: State): string =>
  `${String.fromCharCode(...new Uint16Array(done.buffer))}|${state ?? '\u0000'}`;

export interface LinearizabilityVerdict {
  readonly isLinearizable: boolean;
  /** The most operations that could be put in order. */
  readonly orderedCount: number;
}

/**
 * Whether some order of the operations, each between its call and its answer, explains all answers: the search
 * of Wing and Gong with Lowe's memory of what was tried, as Knossos and Porcupine do it. Operations whose answer
 * was lost may be anywhere after their call, or nowhere.
 */
export const checkLinearizable = (history: readonly Operation[]): LinearizabilityVerdict => {
  const head = entriesOf(history);
  const mustCount = history.filter(({ answeredAt }) => answeredAt !== Infinity).length;
  const done = new Uint32Array(Math.ceil(history.length / 32) || 1);
  const tried = new Set<string>();
  const path: { entry: Entry; before: State }[] = [];
  let state: State;
  let doneMust = 0;
  let orderedCount = 0;
  let entry = head.next;
  while (doneMust < mustCount) {
    if (entry?.isCall) {
      const after = step(state, entry.op);
      if (after !== IMPOSSIBLE) {
        done[entry.id >> 5]! |= 1 << (entry.id & 31);
        const key = cacheKey(done, after);
        if (!tried.has(key)) {
          tried.add(key);
          path.push({ entry, before: state });
          state = after;
          unlink(entry);
          if (entry.match !== undefined) {
            unlink(entry.match);
            doneMust += 1;
          }
          orderedCount = Math.max(orderedCount, path.length);
          entry = head.next;
          continue;
        }
        done[entry.id >> 5]! &= ~(1 << (entry.id & 31));
      }
      entry = entry.next;
      continue;
    }
    // An answer whose call is not in yet, or the end: the last choice was wrong.
    const back = path.pop();
    if (back === undefined) return { isLinearizable: false, orderedCount };
    state = back.before;
    done[back.entry.id >> 5]! &= ~(1 << (back.entry.id & 31));
    if (back.entry.match !== undefined) {
      relink(back.entry.match);
      doneMust -= 1;
    }
    relink(back.entry);
    entry = back.entry.next;
  }
  return { isLinearizable: true, orderedCount };
};
