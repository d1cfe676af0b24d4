/**
 * What the page itself remembers between two loads. A browser may refuse storage (private windows, site
 * settings); then nothing is remembered and nothing else changes.
 */
export const readRemembered = (key: string): string | undefined => {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined; // refused
  }
};

export const remember = (key: string, value: string | undefined): void => {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    return; // refused
  }
};
