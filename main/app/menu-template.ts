import type { MenuItemConstructorOptions } from 'electron';

/** What the menu can ask for. */
export interface MenuActions {
  newWindow(): void;
  openKubeconfig(): void;
  openPalette(): void;
  go(path: string): void;
  showLog(): void;
  openWebsite(): void;
}

export interface MenuPage {
  readonly label: string;
  readonly path: string;
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
  label: '&File',
  submenu: [
    { id: 'new-window', label: 'New window', accelerator: 'CmdOrCtrl+N', click: actions.newWindow },
    {
      id: 'open-kubeconfig',
      label: 'Open kubeconfig…',
      accelerator: 'CmdOrCtrl+O',
      click: actions.openKubeconfig,
    },
    SEPARATOR,
    { role: 'close', label: 'Close window' },
    ...(platform === 'darwin' ? [] : [SEPARATOR, { role: 'quit', label: 'Quit Pilothouse' } satisfies Item]),
  ],
});

const viewMenu = ({ packaged, actions }: MenuOptions): Item => ({
  label: '&View',
  submenu: [
    {
      id: 'palette',
      label: 'Command palette',
      accelerator: 'CmdOrCtrl+K',
      // The page handles the key itself; were it registered too, the palette would open twice.
      registerAccelerator: false,
      click: actions.openPalette,
    },
    SEPARATOR,
    { role: 'resetZoom', label: 'Actual size' },
    { role: 'zoomIn', label: 'Zoom in' },
    { role: 'zoomOut', label: 'Zoom out' },
    SEPARATOR,
    { role: 'togglefullscreen', label: 'Full screen' },
    ...(packaged
      ? []
      : [SEPARATOR, { role: 'reload' } satisfies Item, { role: 'toggleDevTools' } satisfies Item]),
  ],
});

const goMenu = ({ pages, actions }: MenuOptions): Item => ({
  label: '&Go',
  submenu: pages.map(({ label, path }, index) => ({
    id: `go:${path}`,
    label,
    ...(index < PAGES_WITH_KEY_MAX ? { accelerator: `Alt+${index + 1}` } : {}),
    click: () => actions.go(path),
  })),
});

const helpMenu = ({ actions }: MenuOptions): Item => ({
  role: 'help',
  label: '&Help',
  submenu: [
    { id: 'website', label: 'Pilothouse on the web', click: actions.openWebsite },
    { id: 'log', label: 'Show log file', click: actions.showLog },
    SEPARATOR,
    { role: 'about', label: 'About Pilothouse' },
  ],
});

/** The application menu as data; Electron builds it. */
export const menuTemplate = (options: MenuOptions): Item[] => [
  ...(options.platform === 'darwin' ? [{ role: 'appMenu' } satisfies Item] : []),
  fileMenu(options),
  { role: 'editMenu', label: '&Edit' },
  viewMenu(options),
  goMenu(options),
  { role: 'windowMenu', label: '&Window' },
  helpMenu(options),
];
