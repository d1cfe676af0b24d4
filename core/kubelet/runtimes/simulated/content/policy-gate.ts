import type { Connecting, FromContent, Judgement } from './messages.ts';

/** Connections that wait for a judgement; more are denied. */
const WAITING_MAX = 4_096;

const TOO_MANY: Judgement = { isAllowed: false, reason: 'too many connections wait for a decision' };
const ALLOWED: Judgement = { isAllowed: true };

/**
 * The content thread's side of NetworkPolicies. It knows whether there are any; each connection is judged by the kubelet,
 * which knows pods and policies. Until the kubelet has said that there are none, every connection is asked about.
 */
export class PolicyGate {
  readonly #post: (message: FromContent) => void;
  readonly #waiting = new Map<number, (judgement: Judgement) => void>();
  #nextId = 1;
  isPoliced = true;

  constructor(post: (message: FromContent) => void) {
    this.#post = post;
  }

  judge(connection: Connecting): Promise<Judgement> {
    if (!this.isPoliced) return Promise.resolve(ALLOWED);
    if (this.#waiting.size >= WAITING_MAX) return Promise.resolve(TOO_MANY);
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#post({ kind: 'judge', id, connection });
    });
  }

  judged(id: number, judgement: Judgement): void {
    this.#waiting.get(id)?.(judgement);
    this.#waiting.delete(id);
  }
}
