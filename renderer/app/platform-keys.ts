const isMac =
  (window.pilothouse?.platform ?? navigator.platform).toLowerCase().startsWith('mac') ||
  window.pilothouse?.platform === 'darwin';

/** The palette's keys as this platform writes them. */
export const paletteKeys: readonly string[] = [isMac ? '⌘ K' : 'Ctrl K'];

export const isPaletteKey = (event: KeyboardEvent): boolean =>
  event.key.toLowerCase() === 'k' &&
  (isMac ? event.metaKey : event.ctrlKey) &&
  !event.altKey &&
  !event.shiftKey;
