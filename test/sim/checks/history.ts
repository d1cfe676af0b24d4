import type { Trace } from '../world/trace.ts';
import { checkLinearizable, type Operation, type RegisterOp } from './linearizability.ts';
import type { Truth } from '../world/truth.ts';

interface Answered {
  readonly key: string;
  readonly op: RegisterOp;
  readonly calledAt: number;
  readonly answeredAt: number;
  /** Of the answer's header; what a write made, or what a read saw. */
  readonly revision: number;
}

const describe = ({ key, op, calledAt, answeredAt, revision }: Answered): string =>
  `${op.kind} ${key} ${JSON.stringify(op)} [${calledAt}..${answeredAt}] at revision ${revision}`;

const isChange = (op: RegisterOp): boolean =>
  op.kind === 'put' ||
  (op.kind === 'delete' && op.deleted === true) ||
  (op.kind === 'swap' && op.swapped === true);

/** What clients asked and were told, and whether it all can be true. */
export class History {
  readonly #answered: Answered[] = [];
  readonly #lost: { readonly key: string; readonly op: RegisterOp; readonly calledAt: number }[] = [];

  get answeredCount(): number {
    return this.#answered.length;
  }
  get lostCount(): number {
    return this.#lost.length;
  }

  answered(answered: Answered): void {
    this.#answered.push(answered);
  }

  /** It may have happened, or may happen yet. Lost reads say nothing. */
  lost(key: string, op: RegisterOp, calledAt: number): void {
    if (op.kind !== 'get') this.#lost.push({ key, op, calledAt });
  }

  check(truth: Truth, trace: Trace): void {
    this.#checkKept(truth, trace);
    this.#checkOrder(trace);
    this.#checkLinearizable(truth, trace);
  }

  /** No acknowledged write is lost: it is in the history of the store, at the revision that was told. */
  #checkKept(truth: Truth, trace: Trace): void {
    for (const answer of this.#answered) {
      const { op, key, revision } = answer;
      if (!isChange(op)) continue;
      const isThere = truth.revisions
        .get(revision)
        ?.changes.some((change) =>
          op.kind === 'put' || op.kind === 'swap'
            ? change.type === 'put' && change.key === key && change.value === op.value
            : change.type === 'delete' && change.key === key,
        );
      if (!isThere) trace.fail('acknowledged write lost', describe(answer));
    }
  }

  /** Over all keys: who began after another was answered sees at least as much, and writes after it. */
  #checkOrder(trace: Trace): void {
    const calls = [...this.#answered].sort((a, b) => a.calledAt - b.calledAt);
    const answers = [...this.#answered].sort((a, b) => a.answeredAt - b.answeredAt);
    let newest: Answered | undefined;
    let at = 0;
    for (const call of calls) {
      for (let answer = answers[at]; answer && answer.answeredAt < call.calledAt; answer = answers[(at += 1)])
        if (newest === undefined || answer.revision > newest.revision) newest = answer;
      if (newest === undefined) continue;
      const isLate = isChange(call.op) ? call.revision <= newest.revision : call.revision < newest.revision;
      if (isLate) trace.fail('real-time order', `${describe(call)} came after ${describe(newest)}`);
    }
  }

  #checkLinearizable(truth: Truth, trace: Trace): void {
    const written = new Set<string>();
    for (const { changes } of truth.revisions.values())
      for (const change of changes) if (change.type === 'put') written.add(change.value);
    const byKey = new Map<string, Operation[]>();
    const add = (key: string, operation: Operation): void => {
      const list = byKey.get(key);
      if (list === undefined) byKey.set(key, [operation]);
      else list.push(operation);
    };
    for (const { key, op, calledAt, answeredAt } of this.#answered) add(key, { op, calledAt, answeredAt });
    // A lost write that no member ever applied has not happened; a read that saw it is found all the same.
    for (const { key, op, calledAt } of this.#lost)
      if (!('value' in op) || written.has(op.value)) add(key, { op, calledAt, answeredAt: Infinity });
    for (const [key, operations] of byKey) {
      const { isLinearizable, orderedCount } = checkLinearizable(operations);
      if (!isLinearizable)
        trace.fail('linearizability', `${key}: only ${orderedCount} of ${operations.length} operations fit`);
    }
  }
}
