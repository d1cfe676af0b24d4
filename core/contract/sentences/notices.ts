/** Notifications of the host: what happened, and below it why or what to do. */
export const notices = {
  'notice.host.killed': '{cluster}: host {host} was killed',
  'notice.host.killed.detail':
    '{running} of {total} hosts are running. Start it on the overview, or run: {command}',
  'notice.host.exited': '{cluster}: host {host} exited unexpectedly',
  'notice.operation': '{cluster}: {command}',
  'notice.file.damaged': 'Cannot read {path}. The console uses defaults.',
  'notice.file.damaged.kept': 'The file was kept as {keptAs}. Reason: {reason}',
  'notice.reason': 'Reason: {reason}',
  'notice.kubeconfig.failed': 'Failed to open the kubeconfig',
  'notice.file.failed': 'Failed to open the file',
  'notice.update.available': 'Pilothouse {version} is available',
  'notice.update.available.detail': 'Settings shows its changelog. Running clusters are not affected.',
  'notice.link.ignored': 'Ignored an invalid link to Pilothouse',
  'notice.link.ignored.detail': 'A link opens a page of the console, for example pilothouse://raft.',
  'notice.page.reloaded': 'The page of this window crashed and was reloaded',
  'notice.page.reloaded.detail':
    'Reason: {reason}. Clusters are not affected. Unsaved text of the page is lost.',
} as const;
