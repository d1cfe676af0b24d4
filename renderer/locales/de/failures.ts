export const failures = {
  'failure.readOnly': '{cluster} ist in dieser Konsole schreibgeschützt; erlauben Sie zuerst Änderungen',
  'failure.noCluster': 'Cluster {id} nicht gefunden',
  'failure.busy': '„{command}“ läuft noch; warten Sie, bis es fertig ist',
  'failure.paused': '„{command}“ ist angehalten; warten Sie, bis es fertig ist',
  'failure.hostedElsewhere': 'ein anderer Prozess betreibt {cluster}; stoppen Sie ihn zuerst dort',
  'failure.stopping': '{cluster} wird gerade gestoppt; starten Sie ihn danach',
  'failure.servedHere':
    '{cluster} gehört zu dem Befehl, der diese Konsole bereitstellt; brechen Sie diesen Befehl ab, um ihn zu stoppen',
  'failure.notChosen': '{what} {path} wurde nicht von einer Person gewählt; wählen Sie die Datei im Dialog',
  'failure.unreached.ConnectionRefused':
    'der API-Server hat die Verbindung abgelehnt; starten Sie den Cluster oder eine seiner Control-Planes ({detail})',
  'failure.unreached.ConnectionLost':
    'die Verbindung zum API-Server ist abgebrochen; versuchen Sie es erneut und prüfen Sie die Control-Planes, wenn es dabei bleibt ({detail})',
  'failure.unreached.NameNotResolved':
    'der Name des API-Servers lässt sich nicht auflösen; prüfen Sie die Adresse in der kubeconfig ({detail})',
  'failure.unreached.TlsFailed':
    'die TLS-Prüfung ist fehlgeschlagen; prüfen Sie die Zertifikate des API-Servers und der kubeconfig ({detail})',
  'failure.unreached.ProxyFailed':
    'der Proxy hat die Verbindung zum API-Server abgelehnt; prüfen Sie den Proxy in der kubeconfig ({detail})',
  'failure.unreached.TimedOut':
    'der API-Server hat nicht rechtzeitig geantwortet; prüfen Sie, ob sein Host angehalten oder isoliert ist ({detail})',
  'failure.unreached.Closed':
    'diese Konsole hat die Verbindung geschlossen; versuchen Sie es erneut ({detail})',
  'failure.serverExpired':
    'das Zertifikat des API-Servers oder seiner CA ist abgelaufen; erneuern Sie es (pilothouse certs renew all oder kubeadm certs renew all) ({detail})',
  'failure.clientExpired':
    'das Client-Zertifikat in der kubeconfig ist abgelaufen; besorgen Sie eine neue kubeconfig und öffnen Sie sie ({detail})',
  'failure.unauthorized':
    'der API-Server hat die Zugangsdaten dieser kubeconfig abgelehnt ({detail}); melden Sie sich neu an oder besorgen Sie eine neue kubeconfig vom Cluster-Administrator und öffnen Sie sie',
} as const;
