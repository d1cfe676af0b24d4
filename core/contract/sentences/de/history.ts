export const history = {
  'failure.history.encrypted':
    '{key} ist verschlüsselt ({prefix}), und kein angegebener Schlüssel entschlüsselt es; fügen Sie die EncryptionConfiguration mit dem Schlüssel hinzu',
  'failure.history.noObject': '{key} enthält kein Kubernetes-Objekt',
  'failure.history.unreadable': '{key} ist nicht lesbar: {why}',
  'failure.history.absent': '{key} gibt es zu diesem Zeitpunkt nicht',
  'failure.history.notServed':
    'der Server bietet {kind} in {version} nicht an; stellen Sie zuerst die CustomResourceDefinition wieder her',
  'failure.history.terminating':
    'das Objekt wird gerade gelöscht; stellen Sie es wieder her, wenn es gelöscht ist',
  'failure.history.compacted':
    'Revision {revision} wurde komprimiert; etcd hat die Revisionen {oldest} bis {newest}, wählen Sie eine davon oder einen Snapshot',
  'failure.history.future': 'Revision {revision} gibt es noch nicht; die neueste ist {newest}',
  'failure.history.tooMany':
    'das sind mehr als {max} Objekte; einen Namespace wählen, oder den ganzen Snapshot mit pilothouse snapshot restore einspielen',
  'failure.history.cancelled': 'vor dem Ende abgebrochen; wiederhergestellte Objekte bleiben',
  'failure.history.foreign':
    'das etcd dieses Clusters ist nicht zugänglich; wählen Sie eine Snapshot-Datei, um ältere Objekte zu lesen',
  'helm.warn.hook': 'Hook {kind} {name} wird nicht ausgeführt',
  'history.skip.controlled': 'wird von seinem Controller neu erstellt: {kind} {name}',
  'history.warn.rescheduled': 'der Scheduler wählt erneut einen Node',
  'history.warn.volume': 'bindet nur an Volume {volume}, wenn dieses Volume noch existiert und verfügbar ist',
  'history.warn.token': 'das Token gehört zum früheren ServiceAccount und wird gelöscht',
  'history.warn.clusterIp': 'die Adresse {address} ist vergeben; der Service bekommt eine andere',
  'history.warn.namespace': 'Namespace {namespace} existiert nicht und wird zuerst wiederhergestellt',
  'history.warn.owner': 'der Besitzer {kind} {name} existiert nicht; wird ohne ihn wiederhergestellt',
} as const;
