const become = (state: DocumentVisibilityState): void => {
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
  document.dispatchEvent(new Event('visibilitychange'));
};

/** The window is minimised or covered, as the browser tells a page. */
export const becomeHidden = (): void => become('hidden');
export const becomeVisible = (): void => become('visible');
