import type { WebContents, WebFrameMain } from 'electron';
import { isConsoleUrl } from './console-address.ts';

/** The parts of an IPC event that tell who sent it. Electron makes them; a page cannot forge them. */
export interface Sender {
  readonly sender: Pick<WebContents, 'id'>;
  readonly senderFrame: Pick<WebFrameMain, 'parent' | 'url' | 'origin'> | null;
}

/** Why a message from this sender is refused; undefined when it comes from a console page of ours. */
export const whyRefused = (
  { sender, senderFrame }: Sender,
  isOurs: (id: number) => boolean,
  consoleOrigin: string,
): string | undefined => {
  if (!isOurs(sender.id)) return 'it comes from a window that is not ours';
  if (!senderFrame) return 'its frame is gone';
  if (senderFrame.parent !== null) return 'it comes from a subframe';
  // The origin says who runs the script (opaque for a sandboxed frame), the address what was loaded.
  if (senderFrame.origin !== consoleOrigin || !isConsoleUrl(senderFrame.url))
    return 'it comes from a foreign origin';
  return undefined;
};
