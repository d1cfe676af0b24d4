const collator = new Intl.Collator('en', { numeric: true });

/** cp-2 before cp-10: how a person sorts names. */
export const naturalOrder = (a: string, b: string): number => collator.compare(a, b);
