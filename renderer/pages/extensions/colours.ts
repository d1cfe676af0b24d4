/** Names of `styles/tokens.css` that extensions may rely on. */
const SHARED = [
  '--font-ui',
  '--font-mono',
  '--surface-page',
  '--surface-card',
  '--surface-sunken',
  '--border',
  '--text',
  '--text-strong',
  '--text-muted',
  '--accent',
  '--accent-text',
  '--ok-text',
  '--ok-soft',
  '--warn-text',
  '--warn-soft',
  '--error-text',
  '--error-soft',
] as const;

/** The values of a theme, once it is that of the document. */
export const coloursNow = (_theme: 'light' | 'dark'): Readonly<Record<string, string>> => {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(SHARED.map((name) => [name, style.getPropertyValue(name).trim()]));
};
