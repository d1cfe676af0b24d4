/** One request among several whose responses may arrive in any order. */
export interface Turn {
  /** True unless the response to a later request was taken already. Call it once, when the response is there. */
  take(): boolean;
  /** True while no later request was sent: for requests with different inputs, where an older response is wrong. */
  isLast(): boolean;
}

/**
 * Keeps responses in the order of their requests, so that an older one never replaces a newer one. Every read of the
 * console uses it, most of them through `useLatestCall`; `usePoll` needs none because its requests never overlap.
 */
export const createTurns = (): {
  next(): Turn;
  /** No response is taken any more, for example because its page is gone. */
  end(): void;
} => {
  let lastSent = 0;
  let newestTaken = 0;
  return {
    next() {
      lastSent += 1;
      const mine = lastSent;
      return {
        take() {
          if (mine < newestTaken) return false;
          newestTaken = mine;
          return true;
        },
        isLast: () => mine === lastSent && newestTaken !== Infinity,
      };
    },
    end() {
      newestTaken = Infinity;
    },
  };
};
