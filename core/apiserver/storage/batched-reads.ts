import { assert } from '../../base/assert.ts';
import type { RangeResponse } from '../../etcd/proto/index.ts';
import { METHOD, type EtcdClient } from './etcd-client/index.ts';

/** Below etcd's --max-txn-ops, which is 128 unless an operator says otherwise. */
const READS_PER_CALL_MAX = 100;

interface Read {
  readonly key: Buffer;
  resolve(answer: RangeResponse): void;
  reject(error: unknown): void;
}

/**
 * Linearizable reads of single keys. The first of a turn of the event loop goes out on its own; those that follow it share
 * one transaction, which etcd answers as of one moment after all of them were asked. It costs both sides little more
 * than one read, and no one waits for it: connections write at the end of the turn anyway.
 */
export class BatchedReads {
  readonly #client: Pick<EtcdClient, 'call'>;
  #waiting: Read[] = [];
  #isTurnOpen = false;

  constructor(client: Pick<EtcdClient, 'call'>) {
    this.#client = client;
  }

  read(key: Buffer): Promise<RangeResponse> {
    if (!this.#isTurnOpen) {
      this.#isTurnOpen = true;
      // Before the call, so that what is sent here leaves with it.
      setImmediate(() => {
        this.#isTurnOpen = false;
        this.#send();
      });
      return this.#client.call(METHOD.range, { key });
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject });
      if (this.#waiting.length === READS_PER_CALL_MAX) this.#send();
    });
  }

  #send(): void {
    const reads = this.#waiting;
    const [first] = reads;
    if (first === undefined) return;
    this.#waiting = [];
    if (reads.length === 1) {
      this.#client.call(METHOD.range, { key: first.key }).then(first.resolve, first.reject);
      return;
    }
    const success = reads.map(({ key }) => ({ requestRange: { key } }));
    this.#client
      .call(METHOD.reads, { success })
      .then(({ header, responses }) => {
        assert(responses.length === reads.length, 'a transaction answers each of its operations');
        return responses.map(({ responseRange }) => {
          assert(responseRange !== undefined, 'a read is answered by a read');
          return { ...responseRange, header };
        });
      })
      .then(
        (answers) => reads.forEach((read, at) => read.resolve(answers[at]!)),
        (error: unknown) => reads.forEach((read) => read.reject(error)),
      );
  }
}
