export const settings = {
  'settings.title': 'Einstellungen',
  'settings.lead': 'Änderungen werden sofort gespeichert und gelten in jedem Fenster.',
  'settings.saving': 'Speichert',
  'settings.saved.at': 'Gespeichert um {time}',
  'settings.failed': 'Die Einstellung wurde nicht gespeichert',

  'settings.appearance': 'Darstellung',
  'settings.theme': 'Farbschema',
  'settings.theme.text': 'System folgt dem Schreibtisch, bei Tag und bei Nacht.',
  'settings.language': 'Sprache',
  'settings.language.text': 'Wörter von Kubernetes und etcd bleiben, wie ihre APIs sie schreiben.',
  'settings.language.system': 'System',
  'settings.language.en': 'English',
  'settings.language.de': 'Deutsch',

  'settings.behaviour': 'Verhalten',
  'settings.tray': 'Im Infobereich weiterlaufen',
  'settings.tray.text': 'Nach dem Schließen des letzten Fensters laufen die Konsole und ihre Watches weiter.',
  'settings.notifications': 'Desktop-Benachrichtigungen',
  'settings.notifications.text':
    'Zeigt einen Hinweis außerhalb des Fensters, wenn etwas einen Menschen braucht.',
  'settings.desktopOnly': 'Nur in der Desktop-App',

  'settings.about': 'Über diese Installation',
  'settings.about.version': 'Version',
  'settings.about.shell': 'Läuft als',
  'settings.about.shell.desktop': 'Desktop-App',
  'settings.about.shell.browser': 'Browser, über pilothouse serve',
  'settings.about.platform': 'Plattform',
  'settings.about.node': 'Node.js',
  'settings.about.electron': 'Electron',
  'settings.about.chrome': 'Chromium',
  'settings.about.started': 'Gestartet',
  'settings.about.data': 'Datenordner',
  'settings.about.data.text':
    'Dieser Ordner allein ist der Zustand der Konsole: Wer ihn kopiert, verliert nichts.',
  'settings.about.failed.title': 'Der Host hat nicht mitgeteilt, was er ist',
} as const;
