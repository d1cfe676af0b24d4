/** Pods by job whose finalizer was taken off and whose event has not come: their end must not be counted again. */
export class ReleasedPods {
  readonly #byJob = new Map<string, Set<string>>();

  expect(job: string, uid: string): void {
    const held = this.#byJob.get(job);
    if (held) held.add(uid);
    else this.#byJob.set(job, new Set([uid]));
  }

  observed(job: string, uid: string): void {
    const held = this.#byJob.get(job);
    held?.delete(uid);
    if (held?.size === 0) this.#byJob.delete(job);
  }

  of(job: string): ReadonlySet<string> {
    return new Set(this.#byJob.get(job));
  }

  forget(job: string): void {
    this.#byJob.delete(job);
  }
}
