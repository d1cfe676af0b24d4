import { assert } from '../../base/assert.ts';

/**
 * Bounds what all forwarders of a process hold open together. Each connection costs two descriptors, and running out
 * of those would fail the listeners of everybody.
 */
export class ConnectionBudget {
  readonly connectionsMax: number;
  #open = 0;

  constructor(connectionsMax: number) {
    assert(connectionsMax > 0, 'a budget has room for at least one connection');
    this.connectionsMax = connectionsMax;
  }

  get open(): number {
    return this.#open;
  }

  /** False when there is no room. */
  take(): boolean {
    if (this.#open >= this.connectionsMax) return false;
    this.#open += 1;
    return true;
  }

  give(): void {
    assert(this.#open > 0, 'a connection was given back twice');
    this.#open -= 1;
  }
}
