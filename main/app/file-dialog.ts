import { homedir } from 'node:os';
import { join } from 'node:path';
import { BrowserWindow, dialog, type OpenDialogOptions } from 'electron';
import { nativeWord } from './native-words.ts';

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
    title: nativeWord('native.dialog.kubeconfig'),
    defaultPath: join(homedir(), '.kube'),
    buttonLabel: nativeWord('native.dialog.kubeconfig'),
    // Kubeconfig files commonly have no extension and live in a hidden folder.
    properties: ['openFile', 'showHiddenFiles'],
  });

/** Asks for a snapshot file; undefined when the user closed the dialog. */
export const chooseSnapshotFile = (): Promise<string | undefined> =>
  choose({
    title: nativeWord('native.dialog.snapshot'),
    buttonLabel: nativeWord('native.dialog.snapshot'),
    filters: [
      { name: nativeWord('native.dialog.snapshots'), extensions: ['db', 'snapshot'] },
      { name: nativeWord('native.dialog.allFiles'), extensions: ['*'] },
    ],
    properties: ['openFile', 'showHiddenFiles'],
  });
