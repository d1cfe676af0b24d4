/** Tells of changes a little later and once for many, always under the text that they were made in. */
export interface LateTeller {
  changed(id: string, read: () => string): void;
  /** Tells now what waits to be told. */
  flush(): void;
  readonly isWaiting: boolean;
}

export const lateTeller = (tell: (id: string, text: string) => void, delayMs: number): LateTeller => {
  let waiting: { readonly id: string; readonly read: () => string } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const told = waiting;
    waiting = undefined;
    if (told) tell(told.id, told.read());
  };

  return {
    changed(id, read) {
      if (waiting && waiting.id !== id) flush();
      waiting = { id, read };
      timer ??= setTimeout(flush, delayMs);
    },
    flush,
    get isWaiting() {
      return waiting !== undefined;
    },
  };
};
