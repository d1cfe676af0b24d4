/** Anyone who opens something returns one of these. Disposing twice is allowed and does nothing. */
export interface Disposable {
  dispose(): void;
}

export const toDisposable = (close: () => void): Disposable => {
  let open = true;
  return {
    dispose() {
      if (!open) return;
      open = false;
      close();
    },
  };
};

/** Closes what was added in reverse order; what is added after disposal is closed immediately. */
export class DisposableStore implements Disposable {
  readonly #items: Disposable[] = [];
  #disposed = false;

  add<T extends Disposable>(item: T): T {
    if (this.#disposed) item.dispose();
    else this.#items.push(item);
    return item;
  }

  defer(close: () => void): void {
    this.add(toDisposable(close));
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    const errors: unknown[] = [];
    for (const item of this.#items.splice(0).reverse()) {
      try {
        item.dispose();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'some resources failed to close');
  }
}
