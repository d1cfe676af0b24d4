const UNITS: Readonly<Record<string, number>> = { y: 31_536_000, d: 86_400, h: 3600, m: 60, s: 1 };
const DURATION = /^(?:\d+[ydhms])+$/;

/** `5d3h`, `12m`: how kubectl writes ages. */
export const isDuration = (text: string): boolean => DURATION.test(text);

export const durationSeconds = (text: string): number => {
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)([ydhms])/g))
    seconds += Number(amount) * (UNITS[unit ?? ''] ?? 0);
  return seconds;
};
