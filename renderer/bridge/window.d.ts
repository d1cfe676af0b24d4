/** What the preload script puts on the window of the desktop app. A browser has none. */
export interface PreloadBridge {
  send(message: unknown): void;
  /** Returns what stops listening. */
  listen(onMessage: (message: unknown) => void): () => void;
  /** `process.platform` of the host: linux, darwin, win32. */
  readonly platform: string;
}

declare global {
  interface Window {
    readonly pilothouse?: PreloadBridge;
  }
}
