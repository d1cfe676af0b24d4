import { Menu, nativeImage, Tray } from 'electron';
import { nativeWord } from './native-words.ts';
import { toDisposable, type Disposable } from '../../core/base/disposable.ts';

export interface TrayOptions {
  readonly icon: string;
  open(): void;
  quit(): void;
}

/** The app's place while no window is open. Wanted only when the user keeps it running there. */
export const openTray = ({ icon, open, quit }: TrayOptions): Disposable => {
  const tray = new Tray(nativeImage.createFromPath(icon));
  tray.setToolTip('Pilothouse');
  tray.setContextMenu(
    Menu.buildFromTemplate([
      { label: nativeWord('native.tray.open'), click: open },
      { type: 'separator' },
      { label: nativeWord('native.quit'), click: quit },
    ]),
  );
  tray.on('click', open);
  return toDisposable(() => tray.destroy());
};
