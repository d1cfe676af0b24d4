export const failures = {
  'failure.readOnly': '{cluster} ist in dieser Konsole schreibgeschützt; erlauben Sie zuerst Änderungen',
  'failure.noCluster': 'Cluster {id} nicht gefunden',
  'failure.busy': '„{command}“ läuft noch; warten Sie, bis es fertig ist',
  'failure.paused': '„{command}“ ist pausiert; warten Sie, bis es fertig ist',
  'failure.hostedElsewhere': 'ein anderer Prozess betreibt {cluster}; stoppen Sie ihn zuerst dort',
  'failure.stopping': '{cluster} wird gerade gestoppt; starten Sie ihn danach',
  'failure.servedHere':
    '{cluster} gehört zu dem Befehl, der diese Konsole bereitstellt; brechen Sie diesen Befehl ab, um ihn zu stoppen',
  'failure.notChosen.kubeconfig':
    'die Kubeconfig {path} wurde nicht von einer Person gewählt; wählen Sie sie im Dateidialog',
  'failure.notChosen.snapshot':
    'der Snapshot {path} wurde nicht von einer Person gewählt; wählen Sie ihn im Dateidialog',
  'failure.typePath.kubeconfig':
    'geben Sie den Pfad der Kubeconfig auf dem Rechner ein, der diese Konsole bereitstellt',
  'failure.typePath.snapshot':
    'geben Sie den Pfad des Snapshots auf dem Rechner ein, der diese Konsole bereitstellt',
  'failure.snapshotNotChosen':
    '{file} liegt nicht in {folder} und wurde nicht von einer Person gewählt; wählen Sie zuerst die Snapshot-Datei',
  'failure.noneChosen': 'es wurde keine Datei gewählt',
  'failure.closed': 'die Verbindung ist geschlossen',
  'failure.notConnected': 'die Konsole ist nicht mit ihrem Host verbunden',
  'failure.unsupported': 'dieser Host unterstützt {name} nicht',
  'failure.noHosting': 'dieser Host betreibt keine Cluster',
  'failure.httpsOnly': 'nur https-Links können geöffnet werden',
  'failure.notHosted': 'Cluster {id} wird nicht von dieser Konsole betrieben',
  'failure.notRunning': 'der Cluster läuft nicht; starten Sie ihn zuerst',
  'failure.clustersMax': 'die Grenze von {max} Clustern ist erreicht; löschen Sie zuerst einen',
  'failure.kubeconfigsMax': 'die Grenze von {max} Kubeconfigs ist erreicht; entfernen Sie zuerst eine',
  'failure.operationsMax': '{max} Vorgänge laufen schon; warten Sie, bis einer fertig ist',
  'failure.forwardsMax':
    'die Grenze von {max} weitergeleiteten Ports ist erreicht; schließen Sie zuerst einen',
  'failure.connectionsMax': 'die Grenze von {max} Verbindungen ist erreicht; schließen Sie zuerst einige',
  'failure.terminalsMax': 'die Grenze von {max} offenen Terminals ist erreicht; schließen Sie zuerst eines',
  'failure.runs': '{cluster} läuft; stoppen Sie ihn, bevor Sie ihn entfernen',
  'failure.shuttingDown': 'die Konsole wird beendet',
  'failure.nameTaken': 'ein Cluster namens {name} existiert schon; wählen Sie einen anderen Namen',
  'failure.directoryTaken': '{directory} enthält schon einen Cluster; wählen Sie ein anderes Verzeichnis',
  'failure.directoryNotEmpty': '{directory} ist nicht leer; wählen Sie ein leeres oder neues Verzeichnis',
  'failure.directoryUnusable':
    '{directory} kann nicht verwendet werden: {why}; wählen Sie ein anderes Verzeichnis',
  'failure.isFile': 'es ist eine Datei',
  'failure.permissionDenied': 'Zugriff verweigert',
  'failure.notFullPath': '„{path}“ ist kein vollständiger Pfad; beginnen Sie mit / oder ~/',
  'failure.noNetworkLeft':
    'kein freies Loopback-Netz für einen weiteren Cluster; löschen Sie zuerst einen Cluster',
  'failure.noOperation': 'Vorgang {id} nicht gefunden',
  'failure.operationOver': 'der Vorgang ist schon fertig',
  'failure.cannotPause': 'dieser Vorgang kann nicht pausiert werden',
  'failure.ownOnly.etcd': 'etcd-Mitglieder sind nur für Cluster erreichbar, die diese Konsole betreibt',
  'failure.ownOnly.inspection':
    'Hashes, Sperren und Benutzer von etcd gibt es nur für Cluster, die diese Konsole betreibt',
  'failure.ownOnly.timeline': 'Zeitachsen werden nur für Cluster aufgezeichnet, die diese Konsole betreibt',
  'failure.ownOnly.audit': 'Audit-Logs gibt es nur für Cluster, die diese Konsole betreibt',
  'failure.ownOnly.encryption':
    'Verschlüsselungsschlüssel gibt es nur für Cluster, die diese Konsole betreibt',
  'failure.ownOnly.certificates': 'Zertifikatdateien gibt es nur für Cluster, die diese Konsole betreibt',
  'failure.ownOnly.checks': 'Produktionsprüfungen gibt es nur für Cluster, die diese Konsole betreibt',
  'failure.ownOnly.scheduling':
    'Scheduling-Entscheidungen gibt es nur für Cluster, die diese Konsole betreibt',
  'failure.metricsRange': 'eine Abfrage von Metriken muss nach ihrem Anfang enden',
  'failure.noTraces': 'kein API-Server hat geliefert: {what}: {why}',
  'failure.noMetrics': 'dieser API-Server liefert keine Metriken',
  'failure.tracesUnsupported':
    'dieser API-Server zeichnet keine Anfragen auf; das tun nur API-Server von Pilothouse',
  'failure.noSchedulerLeads': 'kein Scheduler ist Leader; versuchen Sie es in ein paar Sekunden erneut',
  'failure.notYaml': 'kein gültiges YAML oder JSON: {why}',
  'failure.podRequired': 'ein Pod mit spec ist erforderlich',
  'failure.cannotOpen': '{path} kann nicht geöffnet werden: {why}',
  'failure.pluginChanged':
    'die Befehlszeile in {path} hat sich geändert, seit sie gezeigt wurde; prüfen Sie sie erneut',
  'failure.consentRequired':
    '{path} führt {command} aus, um Zugangsdaten für {cluster} zu bekommen; prüfen Sie die Befehlszeile und erlauben Sie sie zuerst',
  'failure.signInRequired': 'melden Sie sich zuerst bei {cluster} über {issuer} an (oben rechts)',
  'failure.noSignIn': 'Benutzer von {cluster} melden sich nicht über einen Browser an',
  'failure.drain': 'Node „{node}“ konnte nicht geleert werden: {why}. Er bleibt für neue Pods gesperrt.',
  'failure.portInUse':
    'Port {port} ist auf diesem Rechner schon belegt; wählen Sie einen anderen, oder 0 für einen freien',
  'failure.cannotListen': 'auf Port {port} kann nicht gelauscht werden: {why}',
  'failure.podNotRunning':
    'der Port kann nicht weitergeleitet werden, weil der Pod nicht läuft (Status {phase})',
  'failure.podDeleted': 'Pod {pod} wurde gelöscht',
  'failure.podTerminated': 'Pod {pod} ist beendet: {phase}',
  'failure.notGroupVersion': '{path} ist keine Group-Version wie api/v1 oder apis/apps/v1',
  'failure.noSchemas': 'der Server veröffentlicht keine Schemas für {path}',
  'failure.notApiPath': '{path} ist kein API-Pfad',
  'failure.isStream': '{path} öffnet einen Stream und geht nicht als einfache Anfrage',
  'failure.tooLarge': 'die Antwort auf {request} ist zu groß für die Konsole',
  'failure.terminalOpen': 'dieses Terminal ist schon offen',
  'failure.terminalClosed': 'dieses Terminal ist nicht offen',
  'failure.files.refused': '{command} ist im Container {container} fehlgeschlagen: {detail}',
  'failure.files.noProgram':
    'der Container {container} hat kein {command}, das seine Dateien liest und schreibt; nutzen Sie stattdessen einen Debug-Container',
  'failure.files.tooLarge': '{name} ist größer als {max}; kopieren Sie mit kubectl cp',
  'failure.files.notFile': '{name} ist keine Datei, die sich kopieren lässt',
  'failure.files.changed': '{name} hat sich beim Lesen geändert; versuchen Sie es noch einmal',
  'failure.files.closed': 'dieser Upload ist nicht offen',
  'failure.reachEnds':
    '{from} oder {to} ist kein Pod mit einer Adresse; geben Sie Namespace/Pod oder eine IP-Adresse an',
  'failure.files.open': 'dieser Upload ist schon offen',
  'failure.files.most': 'die Grenze von {max} Uploads ist erreicht; warten Sie, bis einer fertig ist',
  'failure.connectionClosed': 'die Verbindung wurde geschlossen',
  'failure.userExpired.local':
    'das Client-Zertifikat von {user} in {path} ist am {date} abgelaufen; erneuern Sie es auf der Seite Zertifikate',
  'failure.userExpired.kubeconfig':
    'das Client-Zertifikat von {user} in {path} ist am {date} abgelaufen; besorgen Sie eine neue Kubeconfig vom Cluster-Administrator und öffnen Sie sie',
  'failure.unreached.ConnectionRefused':
    'der API-Server hat die Verbindung abgelehnt; starten Sie den Cluster oder eine seiner Control Planes ({detail})',
  'failure.unreached.ConnectionLost':
    'die Verbindung zum API-Server ist abgebrochen; versuchen Sie es erneut und prüfen Sie die Control Planes, wenn es dabei bleibt ({detail})',
  'failure.unreached.NameNotResolved':
    'der Name des API-Servers lässt sich nicht auflösen; prüfen Sie die Adresse in der Kubeconfig ({detail})',
  'failure.unreached.TlsFailed':
    'die TLS-Prüfung ist fehlgeschlagen; prüfen Sie die Zertifikate des API-Servers und der Kubeconfig ({detail})',
  'failure.unreached.ProxyFailed':
    'der Proxy hat die Verbindung zum API-Server abgelehnt; prüfen Sie den Proxy in der Kubeconfig ({detail})',
  'failure.unreached.TimedOut':
    'der API-Server hat nicht rechtzeitig geantwortet; prüfen Sie, ob sein Host pausiert oder isoliert ist ({detail})',
  'failure.unreached.Closed':
    'diese Konsole hat die Verbindung geschlossen; versuchen Sie es erneut ({detail})',
  'failure.serverExpired':
    'das Zertifikat des API-Servers oder seiner CA ist abgelaufen; erneuern Sie es (pilothouse certs renew all oder kubeadm certs renew all) ({detail})',
  'failure.clientExpired':
    'das Client-Zertifikat in der Kubeconfig ist abgelaufen; besorgen Sie eine neue Kubeconfig und öffnen Sie sie ({detail})',
  'failure.unauthorized':
    'der API-Server hat die Zugangsdaten dieser Kubeconfig abgelehnt ({detail}); melden Sie sich neu an oder besorgen Sie eine neue Kubeconfig vom Cluster-Administrator und öffnen Sie sie',
} as const;
