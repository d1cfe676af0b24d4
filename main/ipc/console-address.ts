/** The console's pages have a scheme of their own: a real origin for the browser's checks, and no file access. */
export const CONSOLE_SCHEME = 'pilothouse-app';
const CONSOLE_HOST = 'console';

/** As Chromium spells the origin of a frame. */
export const CONSOLE_ORIGIN = `${CONSOLE_SCHEME}://${CONSOLE_HOST}`;
export const CONSOLE_URL = `${CONSOLE_ORIGIN}/`;

/** Node gives schemes it does not know the origin `null`, so the parts are compared. */
export const isConsoleUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    url.protocol === `${CONSOLE_SCHEME}:` &&
    url.host === CONSOLE_HOST &&
    url.username === '' &&
    url.password === ''
  );
};
