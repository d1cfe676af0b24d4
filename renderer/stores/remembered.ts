import { toDisposable, type Disposable } from '../../core/base/disposable.ts';

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

export const rememberedKeys = (prefix: string): readonly string[] => {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return []; // refused
  }
};

/** Tells what another window of this console remembers from now on; undefined where it forgot something. */
export const onRememberedElsewhere = (
  listener: (key: string, value: string | undefined) => void,
): Disposable => {
  const onStorage = ({ key, newValue }: StorageEvent): void => {
    if (key !== null) listener(key, newValue ?? undefined);
  };
  window.addEventListener('storage', onStorage);
  return toDisposable(() => window.removeEventListener('storage', onStorage));
};
