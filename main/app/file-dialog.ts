import { homedir } from 'node:os';
import { join } from 'node:path';
import { BrowserWindow, dialog, type OpenDialogOptions } from 'electron';

const choose = async (options: OpenDialogOptions): Promise<string | undefined> => {
  const above = BrowserWindow.getFocusedWindow();
  const { canceled, filePaths } = await (above
    ? dialog.showOpenDialog(above, options)
    : dialog.showOpenDialog(options));
  return canceled ? undefined : filePaths[0];
};

/** Asks for a kubeconfig file; undefined when the user closed the dialog. */
export const chooseKubeconfigFile = (): Promise<string | undefined> =>
  choose({
    title: 'Open kubeconfig',
    defaultPath: join(homedir(), '.kube'),
    buttonLabel: 'Open kubeconfig',
    // Kubeconfig files commonly have no extension and live in a hidden folder.
    properties: ['openFile', 'showHiddenFiles'],
  });

/** Asks for a snapshot file; undefined when the user closed the dialog. */
export const chooseSnapshotFile = (): Promise<string | undefined> =>
  choose({
    title: 'Open snapshot',
    buttonLabel: 'Open snapshot',
    filters: [
      { name: 'etcd snapshots', extensions: ['db', 'snapshot'] },
      { name: 'All files', extensions: ['*'] },
    ],
    properties: ['openFile', 'showHiddenFiles'],
  });
