/** Lets a bounded number of requests go immediately; the others, at most a few for each node, wait their turn. */
export interface Gate {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export const gate = (runningMax: number): Gate => {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    async run(work) {
      if (running >= runningMax) await new Promise<void>((resolve) => waiting.push(resolve));
      else running += 1;
      try {
        return await work();
      } finally {
        // The place goes to the next one directly: no one can come in between.
        const next = waiting.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
};
