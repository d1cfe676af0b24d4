export const clusters = {
  'clusters.title': 'Cluster',
  'clusters.lead': {
    one: 'Diese Konsole kennt {count} Cluster.',
    other: 'Diese Konsole kennt {count} Cluster.',
  },
  'clusters.lead.problems': {
    one: '{count} Kubeconfig ist nicht lesbar.',
    other: '{count} Kubeconfigs sind nicht lesbar.',
  },
  'clusters.filter': 'Name, Server oder Benutzer',
  'clusters.filter.hidden': {
    one: '{count} durch den Filter verborgen',
    other: '{count} durch den Filter verborgen',
  },
  'clusters.rows': { one: '{count} Zeile', other: '{count} Zeilen' },
  'clusters.noMatch.title': 'Kein Cluster passt zu „{query}“',
  'clusters.noMatch.text': {
    one: 'Der Filter verbirgt {count} Cluster.',
    other: 'Der Filter verbirgt {count} Cluster.',
  },
  'clusters.noMatch.clear': 'Filter leeren',

  'clusters.column.name': 'Name',
  'clusters.column.server': 'Server',
  'clusters.column.user': 'Benutzer',
  'clusters.column.access': 'Zugriff',
  'clusters.column.kubeconfig': 'Ordner oder Kubeconfig',
  'clusters.column.state': 'Zustand',
  'clusters.column.version': 'Version',
  'clusters.column.actions': 'Aktionen',

  'clusters.use': '{name} verwenden',
  'clusters.current': 'in Gebrauch',
  'clusters.readOnly': 'Nur lesen',
  'clusters.readWrite': 'Lesen, schreiben',
  'clusters.readOnly.why':
    'Cluster aus einer Kubeconfig beginnen nur lesend: Nichts kann versehentlich geändert werden.',

  'clusters.open': 'Kubeconfig öffnen…',
  'clusters.open.keywords': 'Cluster Kontext hinzufügen Datei importieren',
  'clusters.open.title': 'Welche Kubeconfig soll geöffnet werden?',
  'clusters.open.text':
    'Ihre Kontexte werden nur lesend aufgenommen. Die Datei wird dort gelesen, wo der Host läuft, und nicht geändert.',
  'clusters.open.path': 'Pfad auf dem Host',
  'clusters.open.placeholder': '~/.kube/config',
  'clusters.open.needed': 'Geben Sie zuerst den Pfad einer Kubeconfig ein',
  'clusters.open.run': 'Kubeconfig öffnen',
  'clusters.opened': { one: '{count} Kontext hinzugefügt', other: '{count} Kontexte hinzugefügt' },
  'clusters.opened.none': 'Kein Kontext hinzugefügt',
  'clusters.opened.none.detail': 'Alle Kontexte dieser Kubeconfig waren bereits aufgenommen.',
  'clusters.opened.detail': 'Nur lesend geöffnet: {names}',
  'clusters.open.failed': 'Die Kubeconfig wurde nicht geöffnet',

  'clusters.forget': '{name} vergessen',
  'clusters.forget.title': '{name} vergessen?',
  'clusters.forget.text': 'Die Konsole führt den Kontext {name} nicht mehr auf.',
  'clusters.forget.cluster': 'Der Cluster unter {server} läuft weiter',
  'clusters.forget.file': 'Die Datei {path} bleibt, wie sie ist',
  'clusters.forget.current': 'Er ist in Gebrauch: Die Konsole hat danach keinen Cluster',
  'clusters.forget.back': 'Öffnen Sie die Kubeconfig erneut, um ihn wieder aufzunehmen',
  'clusters.forgotten': '{name} vergessen',
  'clusters.forgotten.detail': '{path} wurde nicht geändert',
  'clusters.forgotten.undo': 'Wieder öffnen',

  'clusters.problems': 'Nicht lesbare Kubeconfigs',
  'clusters.problems.note': 'Korrigieren Sie die Datei und öffnen Sie sie erneut.',
  'clusters.problems.retry': 'Erneut öffnen',
  'clusters.problems.forget': 'Vergessen',
  'clusters.forget.failed': '{name} wurde nicht vergessen',

  'clusters.empty.title': 'Noch kein Cluster',
  'clusters.empty.text':
    'Legen Sie einen an, der auf diesem Rechner läuft, oder öffnen Sie eine Kubeconfig: eine Datei, die einen API-Server und Ihren Benutzer nennt. Jeder ihrer Kontexte wird hier zu einem Cluster, nur lesend, bis Sie Änderungen erlauben.',
  'clusters.empty.shell': 'In einer Shell zeigt dies, was aufgenommen würde:',
  'clusters.failed.title': 'Die Liste der Cluster konnte nicht gelesen werden',
} as const;
