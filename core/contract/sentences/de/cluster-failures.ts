export const clusterFailures = {
  'state.elsewhere':
    'Ein anderer Prozess betreibt diesen Cluster (pilothouse up oder eine andere Konsole). Sie können ihn von hier aus bedienen, aber nur jener Prozess kann ihn starten und stoppen.',
  'failure.about': '{what}: {why}',
  'failure.exclusive': 'noch nicht fertig: {what}; warten Sie, bis dieser Vorgang endet',
  'exclusive.resume': 'Fortsetzen einer unterbrochenen Änderung der Mitglieder',
  'exclusive.add': 'Hinzufügen eines Mitglieds',
  'exclusive.remove': 'Entfernen von {member}',
  'exclusive.rotate': 'Wechsel der Verschlüsselungsschlüssel',
  'exclusive.encrypt': 'Einschalten der Verschlüsselung gespeicherter Daten',
  'exclusive.flags': 'Änderung der Flags von {component}',
  'exclusive.rollback': 'Zurückrollen eines Upgrades',
  'exclusive.upgrade': 'Upgrade auf {version}',
  'exclusive.harden': 'Härten des Clusters',
  'exclusive.hardenRollback': 'Zurücknehmen der Härtung',
  'exclusive.renewal': 'Erneuern von Zertifikaten',
  'exclusive.restore': 'Wiederherstellen eines Snapshots',
  'failure.resume': 'setzen Sie mit {command} fort',
  'failure.recoverFirst': 'beheben Sie das und versuchen Sie es dann erneut',
  'failure.recoverThen': 'beheben Sie das, und setzen Sie dann mit {command} fort',
  'failure.cannotRead': '{path} kann nicht gelesen werden: {why}',
  'failure.cannotWrite': '{path} kann nicht geschrieben werden: {why}',
  'failure.noClusterYaml': 'das Verzeichnis enthält keine cluster.yaml mehr',
  'failure.clusterStopped': 'der Cluster wurde gestoppt',
  'failure.clusterStopping': 'der Cluster wird gestoppt',
  'failure.notStarted': 'der Cluster ist noch nicht gestartet; warten Sie, bis er bereit ist',
  'failure.notRunningHere': '{cluster} läuft hier nicht; starten Sie ihn zuerst',
  'failure.hostedElsewhere.command':
    'ein anderer Prozess betreibt {cluster}; verwenden Sie die Befehlszeile mit --data {directory}',
  'failure.notReady': 'der Cluster ist nach {seconds} s nicht bereit: {why}',
  'failure.notReady.component': '{component} auf {host} wurde nicht bereit',
  'failure.notReady.apiServer': 'der API-Server auf {host} wurde nicht bereit',
  'failure.notReady.nodes': '{nodes} nicht Ready',
  'failure.noLeader': '{components} hat keinen Leader',
  'failure.start.host': 'Host {host} ist im Zustand {phase}: {why}',
  'failure.start.exited': 'er endete, bevor der Cluster bereit war',
  'failure.start.damaged':
    'seine etcd-Datenbank ist vielleicht beschädigt: stellen Sie hosts/{host}/etcd aus einem Backup wieder her, oder einen Snapshot',
  'failure.start.component': '{component} auf {host} konnte nicht starten: {why}',
  'failure.start.manifest':
    '{path} {why}; korrigieren Sie die Datei, oder stellen Sie sie aus einem Backup wieder her',
  'warning.restoreRolledBack':
    'eine unterbrochene Wiederherstellung wurde zurückgenommen; stellen Sie den Snapshot erneut wieder her',
  'warning.keyLost':
    '{path} fehlt: Zertifikate können nicht ausgestellt oder erneuert werden; stellen Sie die Datei aus einem Backup wieder her',
  'warning.members': 'Mitglieder: {why}',

  'warning.removalResumed': 'das Entfernen von {host} wurde fortgesetzt und abgeschlossen',
  'warning.joinResumed': 'das Hinzufügen von {host} wurde fortgesetzt und abgeschlossen',
  'warning.joinUndone':
    'das Hinzufügen von {host} wurde unterbrochen und zurückgenommen; führen Sie pilothouse member add erneut aus',

  'exit.killed': 'hart beendet',
  'exit.membership':
    'eine Änderung der Mitglieder ist nicht abgeschlossen; führen Sie diesen Befehl erneut aus',
  'exit.signal': 'durch {signal} beendet',
  'exit.code': 'der Host-Prozess endete mit Code {code}',
  'exit.staysDown': {
    one: 'er endete und bleibt gestoppt; lesen Sie hosts/{host}/logs und führen Sie dann aus: pilothouse host start {host}',
    other:
      'er endete {count}-mal hintereinander und bleibt gestoppt; lesen Sie hosts/{host}/logs und führen Sie dann aus: pilothouse host start {host}',
  },
  'exit.restarting': 'Neustart in {seconds} s ({attempt} von {max})',

  'failure.loadBalancer': 'der Load Balancer ist ausgefallen: {why}',
  'failure.noClusterInfo':
    'dieser Cluster hat kein cluster-info in kube-public; Rechner können ihm nicht beitreten',
  'failure.noHost': 'Host „{host}“ nicht gefunden; bekannte Hosts: {known}',
  'failure.host.failed': 'Host {host} ist ausgefallen: {why}',
  'failure.host.again': '{host} ist wieder im Zustand {phase}: {why}',
  'failure.host.notReady': 'Host {host} wurde nicht wieder bereit: {why}',
  'failure.host.late': '{host} läuft, aber {components} wurde nicht rechtzeitig bereit',
  'failure.host.running': 'Host {host} läuft schon',
  'failure.host.noComponent': 'auf Host {host} läuft kein {component}',
  'failure.host.down': 'Host {host} läuft nicht; starten Sie ihn zuerst',
  'failure.flags':
    '{component} auf {host} wurde mit den neuen Flags nicht bereit; das vorherige Manifest gilt wieder',

  'failure.fault.none': 'Fehler „{id}“ nicht gefunden; aktive Fehler zeigt pilothouse fault list',
  'failure.fault.max': 'die Grenze von {max} Fehlern ist erreicht; heben Sie zuerst einige auf',
  'failure.fault.loadBalancer': 'load-balancer unterstützt keine Fehler an Datenträger oder Uhr',
  'failure.fault.kind': 'unbekannte Art von Fehler',
  'failure.fault.link': 'eine Verbindung braucht zwei verschiedene Hosts',
  'failure.fault.delay': 'die Verzögerung muss zwischen 1 und {max} ms liegen',
  'failure.fault.offset': 'die Abweichung der Uhr darf nicht 0 sein und muss unter zehn Jahren liegen',

  'failure.etcd.none': 'kein etcd-Mitglied ist erreichbar: {why}',
  'failure.etcd.noMember': 'Mitglied „{member}“ nicht gefunden; bekannte Mitglieder: {known}',
  'failure.etcd.noLeader':
    'etcd hat keinen Leader; warten Sie auf eine Wahl, oder stellen Sie Mitglieder wieder her',
  'failure.etcd.unreachable': '{member} ist nicht erreichbar: {why}',
  'failure.etcd.notStarted': 'das Mitglied ist noch nicht gestartet',
  'failure.etcd.silent': 'noch kein Mitglied hat geantwortet',
  'failure.etcd.noResponse': 'noch keine Antwort',
  'failure.etcd.quiet': '{url}: keine Antwort seit mehr als {seconds} s',
  'failure.etcd.noMembers': 'kein Mitglied, das gefragt werden könnte',

  'failure.member.tooMany':
    'der Cluster hat schon {count} Mitglieder; mehr würden jeden Schreibzugriff bremsen',
  'failure.member.only':
    '{member} ist das einzige Mitglied; fügen Sie zuerst mit pilothouse member add eines hinzu',
  'failure.member.quorum':
    'ohne {member} ginge das Quorum verloren: {healthy} von {voters} Mitgliedern gesund, {needed} nötig; stellen Sie zuerst Mitglieder wieder her',
  'failure.member.lastApiServer': 'auf {member} läuft der einzige bereite API-Server',
  'failure.member.foreign':
    'Mitglied {member} hat keinen Host in diesem Cluster; entfernen Sie es mit etcdctl member remove {id}',
  'failure.member.etcdServers':
    'kube-apiserver auf {host} wurde mit dem neuen --etcd-servers nicht bereit: {why}',
  'failure.member.external': 'dieser Cluster verwendet ein externes etcd; ändern Sie seine Mitglieder dort',
  'failure.member.behind': 'das Mitglied auf {host} hat nicht aufgeholt: {why}',
  'failure.member.noNode': 'Node {node} hat sich nicht registriert',
  'failure.member.notJoined': '{host} ist noch nicht beigetreten',
  'failure.member.notRemoved': '{host} ist noch nicht entfernt',

  'failure.snapshot.none': '{file} ist kein Snapshot in {folder}',
  'failure.snapshot.directory': 'Snapshots können nicht in {directory} gespeichert werden: {why}',
  'failure.snapshot.choose': 'wählen Sie ein Verzeichnis, in das dieser Benutzer schreiben darf',
  'failure.snapshot.absolute': 'es muss ein absoluter Pfad sein',
  'failure.snapshot.exists': '{path} existiert schon; wählen Sie einen anderen Namen',
  'failure.restore.external':
    'dieser Cluster verwendet ein externes etcd; stellen Sie den Snapshot dort wieder her',
  'failure.restore.damaged': '{file}: {why}; nichts wurde geändert',
  'failure.restore.rolledBack':
    'die Wiederherstellung ist fehlgeschlagen, die vorherigen Daten gelten wieder: {why}',

  'failure.upgrade.incomplete':
    'das Upgrade auf {version} ist nicht abgeschlossen; schließen Sie es zuerst ab',
  'failure.upgrade.rollingBack':
    'das Upgrade auf {version} wird zurückgerollt; schließen Sie das zuerst mit pilothouse upgrade rollback ab',
  'failure.upgrade.resume':
    'das Upgrade auf {version} ist nicht abgeschlossen; setzen Sie es mit pilothouse upgrade apply {version} fort, oder rollen Sie es mit pilothouse upgrade rollback zurück',
  'failure.upgrade.refused': 'ein Upgrade von {from} auf {to} ist nicht möglich: {why}',
  'failure.upgrade.format': 'Versionen haben die Form v1.36.0',
  'failure.upgrade.latest': 'die neueste unterstützte Version ist {version}',
  'failure.upgrade.downgrade': 'Downgrades werden nicht unterstützt',
  'failure.upgrade.skip':
    'Minor-Versionen können nicht übersprungen werden; führen Sie zuerst das Upgrade auf {version} durch',
  'failure.upgrade.reverted':
    '{component} auf {host} wurde mit {version} nicht bereit; die vorherige Version läuft wieder',
  'failure.upgrade.kubelet': 'das Kubelet auf {node} wurde mit {version} nicht bereit',
  'failure.upgrade.noImage': '{path} enthält kein Image für {component}; korrigieren Sie das zuerst',
  'failure.rollback.none': 'kein Upgrade zum Zurückrollen; der Cluster läuft mit seiner ersten Version',
  'failure.rollback.unsupported': '{version} unterstützt {resource} nicht; löschen Sie zuerst diese Objekte',
  'failure.drainTimeout': {
    one: 'das Leeren von {node} dauerte länger als {seconds} s: {count} Pod ist übrig, {pod}',
    other: 'das Leeren von {node} dauerte länger als {seconds} s: {count} Pods sind übrig, darunter {pod}',
  },
  'failure.drainTimeout.budget': 'ein PodDisruptionBudget verhindert ihre Eviction',

  'failure.kubeconfig.yaml': 'sie ist kein gültiges YAML: {why}',
  'failure.kubeconfig.schema': 'sie ist keine kubeconfig: {why}',
  'failure.kubeconfig.notFile': 'es ist keine Datei',
  'failure.kubeconfig.tooLarge': 'sie ist größer als {bytes} Bytes',
  'failure.kubeconfig.missing': 'die Datei existiert nicht',
  'failure.kubeconfig.noContexts': 'sie hat keine Kontexte',
  'failure.kubeconfig.noCluster':
    'Kontext „{context}“ nennt den Cluster „{cluster}“, der nicht definiert ist',
  'failure.kubeconfig.noServer': 'Cluster „{cluster}“ hat keinen Server',
  'failure.kubeconfig.cut': 'nur die ersten {max} ihrer {count} Kontexte werden aufgelistet',
} as const;
