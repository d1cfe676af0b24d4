import { homedir } from 'node:os';
import { join } from 'node:path';
import { BrowserWindow, dialog, type OpenDialogOptions } from 'electron';

/** Asks for a kubeconfig file; undefined when the user closed the dialog. */
export const chooseKubeconfigFile = async (): Promise<string | undefined> => {
  const options: OpenDialogOptions = {
    title: 'Open kubeconfig',
    defaultPath: join(homedir(), '.kube'),
    buttonLabel: 'Open kubeconfig',
    // Kubeconfig files commonly have no extension and live in a hidden folder.
    properties: ['openFile', 'showHiddenFiles'],
  };
  const above = BrowserWindow.getFocusedWindow();
  const { canceled, filePaths } = await (above
    ? dialog.showOpenDialog(above, options)
    : dialog.showOpenDialog(options));
  return canceled ? undefined : filePaths[0];
};
