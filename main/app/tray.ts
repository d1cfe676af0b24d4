import { Menu, nativeImage, Tray } from 'electron';
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
      { label: 'Open Pilothouse', click: open },
      { type: 'separator' },
      { label: 'Quit Pilothouse', click: quit },
    ]),
  );
  tray.on('click', open);
  return toDisposable(() => tray.destroy());
};
