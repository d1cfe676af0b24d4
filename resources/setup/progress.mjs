/** Shows one step: what is being done, and when it is over how long it took. Plain lines off a terminal. */
export const step = async (label, work) => {
  const startedAt = Date.now();
  const seconds = () => ((Date.now() - startedAt) / 1000).toFixed(1);
  const terminal = process.stderr.isTTY;
  const timer = terminal
    ? setInterval(() => process.stderr.write(`\r${label} ${seconds()} s`), 100)
    : undefined;
  if (!terminal) process.stderr.write(`${label}\n`);
  try {
    const result = await work();
    if (terminal) process.stderr.write(`\r${label} ${seconds()} s\n`);
    return result;
  } catch (error) {
    if (terminal) process.stderr.write('\n');
    throw error;
  } finally {
    clearInterval(timer);
  }
};

/** A failure whose message is all a person needs; it is printed without a stack. */
export class SetupError extends Error {}

/** Runs a script's main function: one clear line for a failure that was foreseen, a stack for a defect. */
export const runMain = async (main) => {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    process.stderr.write(`${error instanceof SetupError ? `pilothouse: ${error.message}` : error.stack}\n`);
    process.exitCode = 1;
  }
};
