/** Warum ein Datenverzeichnis, eine Konfiguration, ein Netz oder ein Schlüssel nicht verwendet werden kann. */
export const directoryFailures = {
  'directory.unusable': 'das Datenverzeichnis {directory} kann nicht verwendet werden: {why}',
  'directory.diskFull': 'der Datenträger ist voll; geben Sie Speicherplatz frei und versuchen Sie es erneut',
  'directory.quota':
    'das Kontingent auf dem Datenträger ist ausgeschöpft; geben Sie Speicherplatz frei und versuchen Sie es erneut',
  'directory.readOnly': 'der Datenträger ist schreibgeschützt; wählen Sie mit --data ein anderes Verzeichnis',
  'directory.denied':
    'Zugriff verweigert; ändern Sie den Besitzer oder wählen Sie mit --data ein anderes Verzeichnis',
  'directory.noCluster':
    'kein Cluster in {directory}; erstellen Sie einen mit `pilothouse up --data {directory}`',
  'directory.onlyPki':
    '{directory} enthält pki/, aber keine cluster.yaml; stellen Sie cluster.yaml wieder her, oder wählen Sie mit --data ein anderes Verzeichnis',
  'directory.newerFormat':
    '{directory} hat das Datenformat {format}, und diese Version von Pilothouse liest Formate bis {newest}; verwenden Sie die Version, die es geschrieben hat, oder eine neuere',
  'directory.damaged': '{path} ist beschädigt: {why}; {remedy}',
  'directory.damaged.restore': 'stellen Sie die Datei aus einem Backup dieses Verzeichnisses wieder her',
  'directory.damaged.rejoin': 'löschen Sie sie und treten Sie erneut bei',
  'directory.damaged.journal':
    'löschen Sie die Datei und vergleichen Sie dann die Ausgabe von pilothouse member list mit cluster.yaml',
  'directory.damaged.schedule': 'löschen Sie die Datei oder legen Sie den Zeitplan neu fest',
  'directory.damaged.harden':
    'löschen Sie die Datei und sehen Sie dann mit pilothouse harden plan nach, was noch zu tun ist',
  'directory.damaged.drill': 'löschen, dann den Cluster mit pilothouse doctor prüfen',
  'directory.damaged.upgrade':
    'löschen Sie die Datei und prüfen Sie dann die Versionen mit pilothouse upgrade plan',
  'directory.flag':
    'der Cluster in {directory} hat {flag} {value}; lassen Sie das Flag weg, oder wählen Sie mit --data ein anderes Verzeichnis',
  'directory.flag.externalMembers':
    '--etcd-members passt nicht zu --external-etcd, das eigene Mitglieder hat',
  'directory.flag.stackedMembers': {
    one: '--etcd-members {members} passt nur zu --topology external; bei stacked läuft ein Mitglied auf der {count} Control Plane',
    other:
      '--etcd-members {members} passt nur zu --topology external; bei stacked läuft ein Mitglied auf jeder der {count} Control Planes',
  },
  'directory.component.missing': 'Host {host} hat kein Manifest für {component}',
  'directory.component.notStopped': '{component} auf Host {host} ist nicht gestoppt',

  'pki.missing': '{file} fehlt; {remedy}',
  'pki.certificate': '{file} ist kein gültiges Zertifikat; {remedy}',
  'pki.key': '{file} ist kein gültiger privater Schlüssel; {remedy}',
  'pki.kubeconfig': '{file} ist keine gültige Kubeconfig; {remedy}',
  'pki.remedy.restore': 'stellen Sie pki/ aus einem Backup dieses Verzeichnisses wieder her',
  'pki.remedy.delete': 'löschen Sie die Datei; der nächste Start stellt eine neue aus',
  'pki.remedy.deletePair': 'löschen Sie {certificate} und {key}; der nächste Start stellt beide neu aus',
  'pki.remedy.serviceAccounts':
    'damit werden Token von Service-Accounts signiert: stellen Sie pki/ aus einem Backup dieses Verzeichnisses wieder her',

  'configuration.file': '{path}: {why}',
  'configuration.yaml': '{path} ist kein gültiges YAML: {why}',
  'configuration.fixFirst': '{path}: {why}; korrigieren Sie das zuerst',
  'configuration.noRuntime':
    'spec.containerRuntimeEndpoints erfordert runtime cri (--container-runtime-endpoint erfordert --runtime cri)',
  'configuration.drills': 'ein Cluster für Übungen hat simulierte Container und eigene etcd-Mitglieder',
  'configuration.stackedExternal': 'spec.externalEtcd erfordert die Topologie external',
  'configuration.stackedMembers':
    'spec.etcdMembers muss in der Topologie stacked gleich spec.controlPlanes sein',
  'configuration.noMembers': 'die Topologie external erfordert spec.etcdMembers oder spec.externalEtcd',
  'configuration.ordinals': '{ordinals} muss so viele Einträge haben wie {count}',

  'network.none':
    'kein freies Loopback-Netz zwischen 127.16 und 127.253; stoppen Sie zuerst einen anderen Cluster',
  'network.inUse':
    '{address} wird von einem anderen Programm verwendet; beenden Sie es und versuchen Sie es erneut',
  'network.notLocal':
    '{address} ist keine Adresse dieses Rechners; Loopback-Adressen in 127.0.0.0/8 sind erforderlich',
  'network.denied': 'dieser Benutzer darf {address} nicht verwenden: Zugriff verweigert',
  'network.unbound': '{address} kann nicht verwendet werden: {why}',

  'encryption.keyLost':
    '{file} fehlt: ohne ihre Schlüssel sind gespeicherte Secrets nicht lesbar; stellen Sie sie mit pilothouse encryption import oder aus einem Backup dieses Verzeichnisses wieder her',
  'encryption.off':
    'die Verschlüsselung gespeicherter Daten ist nicht eingerichtet; schalten Sie sie mit pilothouse encryption enable ein',
  'encryption.configured': 'die Verschlüsselung gespeicherter Daten ist in {file} eingerichtet',
  'encryption.noOwnKey': 'die Verschlüsselungskonfiguration hat keinen eigenen Schlüssel zum Rotieren',
  'encryption.notLoaded':
    'der API-Server auf {host} hat die neue Verschlüsselungskonfiguration nicht geladen; prüfen Sie sein Log und führen Sie pilothouse encryption rotate erneut aus',
  'encryption.incomplete':
    'einige Objekte sind noch mit einem alten Schlüssel verschlüsselt; führen Sie pilothouse encryption rotate erneut aus',
  'encryption.snapshotKey':
    'der Snapshot braucht einen Schlüssel, den dieser Cluster nicht hat ({why}); fügen Sie ihn der Verschlüsselungskonfiguration hinzu, siehe encryption.previous.yaml oder pilothouse encryption import',
  'encryption.unreadable': 'der Wert von {key} ist nicht lesbar: {why}',

  'harden.issuerInFlag':
    'API-Server haben einen Aussteller in --oidc-issuer-url, was nicht zu --authentication-config passt; verschieben Sie ihn zuerst in die Datei',
  'harden.notApplied': 'nichts zum Zurückrollen; pilothouse harden wurde nicht angewendet',
  'harden.rollingBack':
    'die Härtung wird zurückgerollt; schließen Sie das zuerst mit pilothouse harden rollback ab',

  'drain.daemonSets':
    'Pods von DaemonSets können nicht gelöscht werden (--ignore-daemonsets ignoriert sie): {pods}',
  'drain.localStorage':
    'Pods mit lokalem Speicher können nicht gelöscht werden (--delete-emptydir-data erlaubt es): {pods}',
  'drain.unmanaged': 'Pods ohne Controller können nicht gelöscht werden (--force erlaubt es): {pods}',
  'drain.noDaemonSet': 'Pods können nicht gelöscht werden, {why}: {pods}',
  'drain.evict': 'Eviction von {pod} fehlgeschlagen: {why}',
  'drain.evict.retry': 'Eviction von {pod} fehlgeschlagen (nächster Versuch in {seconds} s): {why}',
  'drain.wait': 'Pod {pod} wurde nicht beendet: {why}',
  'drain.timeout': 'Zeitlimit von {minutes} min erreicht',
} as const;
