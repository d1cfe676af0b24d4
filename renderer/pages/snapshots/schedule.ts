/** What is offered; whatever else a schedule says is kept and shown as the nearest of these. */
export const EVERY_MINUTES = [15, 60, 360, 1440] as const;
const KEEP_MAX = 1000;

export const everyChoice = (minutes: number): string => {
  const distance = (choice: number): number => Math.abs(choice - minutes);
  return String([...EVERY_MINUTES].sort((a, b) => distance(a) - distance(b))[0]);
};

export const keepProblem = (text: string): boolean =>
  !/^\d{1,4}$/.test(text.trim()) || Number(text) < 1 || Number(text) > KEEP_MAX;
