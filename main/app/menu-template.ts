import type { MenuItemConstructorOptions } from 'electron';
import type { MenuPage } from './menu-pages.ts';
import { nativeWord } from './native-words.ts';

/** What the menu can ask for. */
export interface MenuActions {
  newWindow(): void;
  openKubeconfig(): void;
  openPalette(): void;
  go(path: string): void;
  showLog(): void;
  openWebsite(): void;
}

export interface MenuOptions {
  readonly platform: NodeJS.Platform;
  /** Developer tools and reload are for those who build the console. */
  readonly packaged: boolean;
  readonly pages: readonly MenuPage[];
  readonly actions: MenuActions;
}

type Item = MenuItemConstructorOptions;

const SEPARATOR: Item = { type: 'separator' };
const PAGES_WITH_KEY_MAX = 9;

const fileMenu = ({ platform, actions }: MenuOptions): Item => ({
  label: nativeWord('native.menu.file'),
  submenu: [
    {
      id: 'new-window',
      label: nativeWord('native.newWindow'),
      accelerator: 'CmdOrCtrl+N',
      click: actions.newWindow,
    },
    {
      id: 'open-kubeconfig',
      label: nativeWord('native.openKubeconfig'),
      accelerator: 'CmdOrCtrl+O',
      click: actions.openKubeconfig,
    },
    SEPARATOR,
    { role: 'close', label: nativeWord('native.closeWindow') },
    ...(platform === 'darwin'
      ? []
      : [SEPARATOR, { role: 'quit', label: nativeWord('native.quit') } satisfies Item]),
  ],
});

/** Roles alone would be English on every system. */
const editMenu = (): Item => ({
  role: 'editMenu',
  label: nativeWord('native.menu.edit'),
  submenu: [
    { role: 'undo', label: nativeWord('native.undo') },
    { role: 'redo', label: nativeWord('native.redo') },
    SEPARATOR,
    { role: 'cut', label: nativeWord('native.cut') },
    { role: 'copy', label: nativeWord('native.copy') },
    { role: 'paste', label: nativeWord('native.paste') },
    { role: 'delete', label: nativeWord('native.delete') },
    SEPARATOR,
    { role: 'selectAll', label: nativeWord('native.selectAll') },
  ],
});

const windowMenu = ({ platform }: MenuOptions): Item => ({
  role: 'windowMenu',
  label: nativeWord('native.menu.window'),
  // macOS adds its own items, in the system's language.
  ...(platform !== 'darwin' && {
    submenu: [
      { role: 'minimize', label: nativeWord('native.minimize') },
      { role: 'close', label: nativeWord('native.closeWindow') },
    ] satisfies Item[],
  }),
});

const viewMenu = ({ packaged, actions }: MenuOptions): Item => ({
  label: nativeWord('native.menu.view'),
  submenu: [
    {
      id: 'palette',
      label: nativeWord('native.palette'),
      accelerator: 'CmdOrCtrl+K',
      // The page handles the key itself; were it registered too, the palette would open twice.
      registerAccelerator: false,
      click: actions.openPalette,
    },
    SEPARATOR,
    { role: 'resetZoom', label: nativeWord('native.actualSize') },
    { role: 'zoomIn', label: nativeWord('native.zoomIn') },
    { role: 'zoomOut', label: nativeWord('native.zoomOut') },
    SEPARATOR,
    { role: 'togglefullscreen', label: nativeWord('native.fullScreen') },
    ...(packaged
      ? []
      : [SEPARATOR, { role: 'reload' } satisfies Item, { role: 'toggleDevTools' } satisfies Item]),
  ],
});

const goMenu = ({ pages, actions }: MenuOptions): Item => ({
  label: nativeWord('native.menu.go'),
  submenu: pages.map((path, index) => ({
    id: `go:${path}`,
    label: nativeWord(`native.page.${path}`),
    ...(index < PAGES_WITH_KEY_MAX ? { accelerator: `Alt+${index + 1}` } : {}),
    click: () => actions.go(path),
  })),
});

const helpMenu = ({ actions }: MenuOptions): Item => ({
  role: 'help',
  label: nativeWord('native.menu.help'),
  submenu: [
    { id: 'website', label: nativeWord('native.website'), click: actions.openWebsite },
    { id: 'log', label: nativeWord('native.log'), click: actions.showLog },
    SEPARATOR,
    { role: 'about', label: nativeWord('native.about') },
  ],
});

/** The application menu as data; Electron builds it. */
export const menuTemplate = (options: MenuOptions): Item[] => [
  ...(options.platform === 'darwin' ? [{ role: 'appMenu' } satisfies Item] : []),
  fileMenu(options),
  editMenu(),
  viewMenu(options),
  goMenu(options),
  windowMenu(options),
  helpMenu(options),
];
