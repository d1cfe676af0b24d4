export const notices = {
  'notice.host.killed': '{cluster}: Host {host} wurde beendet (kill)',
  'notice.host.killed.detail':
    '{running} von {total} Hosts laufen. In der Übersicht starten, oder: {command}',
  'notice.host.exited': '{cluster}: Host {host} wurde unerwartet beendet',
  'notice.operation': '{cluster}: {command}',
  verbatim: '{text}',
  together: '{parts}',
  'notice.file.damaged': '{path} kann nicht gelesen werden. Die Konsole verwendet Standardwerte.',
  'notice.file.damaged.kept': 'Die Datei bleibt als {keptAs} erhalten. Grund: {reason}',
  'notice.reason': 'Grund: {reason}',
  'notice.kubeconfig.failed': 'Die Kubeconfig konnte nicht geöffnet werden',
  'notice.file.failed': 'Die Datei konnte nicht geöffnet werden',
  'notice.update.available': 'Pilothouse {version} ist verfügbar',
  'notice.update.available.detail':
    'Die Einstellungen zeigen das Änderungsprotokoll. Laufende Cluster sind nicht betroffen.',
  'notice.link.ignored': 'Ein ungültiger Link zu Pilothouse wurde ignoriert',
  'notice.link.ignored.detail': 'Ein Link öffnet eine Seite der Konsole, zum Beispiel pilothouse://raft.',
  'notice.page.reloaded': 'Die Seite dieses Fensters ist abgestürzt und wurde neu geladen',
  'notice.page.reloaded.detail':
    'Grund: {reason}. Cluster sind nicht betroffen. Nicht gespeicherter Text der Seite ist verloren.',
} as const;
