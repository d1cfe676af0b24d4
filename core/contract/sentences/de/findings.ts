export const findings = {
  'found.unmeasured': 'die Prüfung konnte nicht ausgeführt werden: {why}',
  'advice.unmeasured': 'starten Sie den Cluster, oder sehen Sie mit pilothouse status nach, was nicht läuft',
  'found.noResult': 'kein Ergebnis nach {seconds} s',
  'found.more': '{names} und {count} weitere',
  'found.componentOn': '{component} auf {host}',

  'found.etcdMembers.unreachable': {
    one: 'nicht erreichbar: {names}, von {count} Mitglied',
    other: 'nicht erreichbar: {names}, von {count} Mitgliedern',
  },
  'found.etcdMembers.few': {
    one: '{count} Mitglied: kein Ausfall wird toleriert',
    other: '{count} Mitglieder: kein Ausfall wird toleriert',
  },
  'found.etcdMembers.even': '{count} Mitglieder tolerieren nicht mehr Ausfälle als {fewer}',
  'found.etcdMembers.ok': '{count} Mitglieder sind gesund; Ausfalltoleranz {tolerance}',
  'advice.recoverMember': 'stellen Sie das Mitglied wieder her',
  'advice.addMembers': 'fügen Sie Mitglieder hinzu, bis es drei oder fünf sind',

  'found.diskLatency.external': 'etcd ist extern, seine Metriken sind hier nicht verfügbar',
  'advice.diskLatency.external': 'überwachen Sie dort den fsync des WAL',
  'found.diskLatency.unknown': 'zu wenige fsyncs für eine Messung',
  'advice.diskLatency.unknown': 'wiederholen Sie die Prüfung nach etwas Last',
  'found.diskLatency': 'das 99. Perzentil des WAL-fsync auf {member} beträgt {ms} ms',
  'advice.diskLatency': 'etcd braucht höchstens {limit} ms; verwenden Sie eine eigene SSD',

  'found.etcdQuota.alarm': 'NOSPACE-Alarm: Schreibzugriffe werden abgelehnt',
  'advice.etcdQuota.alarm':
    'kompaktieren und defragmentieren Sie, oder erhöhen Sie --quota-backend-bytes; schalten Sie dann den Alarm aus',
  'found.etcdQuota.unknown': 'das Speicher-Quota ist nicht bekannt',
  'found.etcdQuota': '{member} belegt {used} von {quota} MiB',
  'advice.etcdQuota': 'kompaktieren und defragmentieren Sie, oder erhöhen Sie --quota-backend-bytes',
  'advice.setFlag': 'setzen Sie {flag}',

  'found.peerCertificates.external': 'etcd ist extern',
  'advice.peerCertificates.external': 'prüfen Sie dort, ob Peers eigene Zertifikate verwenden',
  'found.peerCertificates.none': 'das Mitglied auf {host} zeigt kein Zertifikat',
  'found.peerCertificates.open': 'das Mitglied auf {host} akzeptiert Peers ohne Zertifikat',
  'found.peerCertificates.shared': 'dasselbe Zertifikat für Clients und Peers auf {hosts}',
  'advice.peerCertificates.shared': 'stellen Sie Peer-Zertifikate aus',
  'found.peerCertificates.ok':
    'jedes Mitglied verwendet getrennte Client- und Peer-Zertifikate und verlangt Zertifikate von Peers',

  'found.compaction.off': 'die automatische Kompaktierung ist ausgeschaltet',
  'found.compaction.unknown':
    'API-Server kompaktieren alle {minutes} min; die kompaktierte Revision ist nicht bekannt',
  'found.compaction':
    'kompaktiert bis Revision {compacted} von {revision}; API-Server kompaktieren alle {minutes} min',
  'advice.compaction': 'finden Sie heraus, warum die Kompaktierung nicht nachkommt',

  'found.apiReplicas.balancer': '{balancer} antwortet nicht',
  'advice.apiReplicas.balancer': 'prüfen Sie den Load Balancer mit pilothouse status',
  'found.apiReplicas.down': 'der API-Server auf {hosts} ist nicht bereit',
  'advice.apiReplicas.down': 'prüfen Sie sein Log',
  'found.apiReplicas.ok': '{count} API-Server sind hinter {balancer} bereit',
  'found.apiReplicas.single': 'nur ein API-Server: sein Neustart ist ein Ausfall',
  'advice.apiReplicas.single': 'betreiben Sie drei Control Planes',

  'found.encryptionAtRest.off': 'Verschlüsselung gespeicherter Daten ist nicht konfiguriert',
  'found.encryptionAtRest.on': 'konfiguriert',
  'found.encryptionAtRest.noSecret': 'noch kein Secret gespeichert',
  'found.encryptionAtRest.stored': 'ein gespeichertes Secret beginnt mit {head}',

  'found.auditLog.off': 'Audit-Logging ist nicht konfiguriert',
  'found.auditLog.silent': 'ein Audit-Log ist konfiguriert, am letzten Tag wurde aber nichts geschrieben',
  'advice.auditLog.silent': 'prüfen Sie, ob die Audit-Policy überhaupt Anfragen erfasst',
  'found.auditLog.ok': '{path} wird geschrieben',

  'found.requestLimits.none': 'ein API-Server begrenzt gleichzeitige Anfragen nicht',
  'advice.requestLimits.none': 'setzen Sie --max-requests-inflight und --max-mutating-requests-inflight',
  'found.requestLimits.ok': {
    one: 'Grenzen je API-Server: {reads} lesende, {writes} schreibende; {count} Anfrage bisher abgelehnt',
    other: 'Grenzen je API-Server: {reads} lesende, {writes} schreibende; {count} Anfragen bisher abgelehnt',
  },

  'found.admissionPlugins.off': 'ausgeschaltet: {names}',
  'advice.admissionPlugins.off': 'entfernen Sie sie aus --disable-admission-plugins',
  'found.admissionPlugins.nodes': 'Kubelets können andere Nodes ändern: NodeRestriction ist ausgeschaltet',
  'advice.admissionPlugins.nodes': 'nehmen Sie es in --enable-admission-plugins auf',
  'found.admissionPlugins.ok': '{names} haben Anfragen bearbeitet',
  'found.admissionPlugins.unseen': '{names} hatten noch keine Anfragen',

  'found.anonymousOff.open': 'anonyme Benutzer können Namespaces auflisten',
  'advice.anonymousOff.open':
    'entfernen Sie die Role-Bindings von system:anonymous und system:unauthenticated',
  'found.anonymousOff.ok': 'Anfragen ohne Zugangsdaten werden mit 401 abgelehnt',
  'found.anonymousOff.denied':
    'Anfragen ohne Zugangsdaten gelten als system:anonymous und werden von RBAC verweigert (403)',
  'advice.anonymousOff.denied':
    'Health-Probes brauchen das; begrenzen Sie es sonst in --authentication-config auf /livez, /readyz und /healthz',

  'found.anonymousPaths.open': 'kube-apiserver auf {host} liefert anonymen Clients {paths}',
  'advice.anonymousPaths.open':
    'entfernen Sie die Role-Bindings von system:anonymous und system:unauthenticated, oder begrenzen Sie anonymen Zugriff in --authentication-config',
  'found.anonymousPaths.version': 'anonyme Clients können /version lesen',
  'advice.anonymousPaths.version':
    'begrenzen Sie anonymen Zugriff in --authentication-config auf /livez, /readyz und /healthz',
  'found.anonymousPaths.ok': 'jeder API-Server lehnt anonyme Anfragen an {count} Pfade ab',

  'found.oidc.off': 'Benutzer melden sich mit Client-Zertifikaten an, die nicht widerrufen werden können',
  'advice.oidc.off': 'pilothouse harden apply --oidc-issuer-url URL --oidc-client-id ID',
  'found.oidc.ok': 'Token von {issuer} werden akzeptiert',

  'found.nodeAndRbac.all': 'ein API-Server erlaubt alle Anfragen',
  'found.nodeAndRbac.modes': 'ein API-Server hat --authorization-mode={modes}',
  'advice.nodeAndRbac': 'setzen Sie --authorization-mode=Node,RBAC auf jedem API-Server',
  'found.nodeAndRbac.users': 'jeder angemeldete Benutzer kann Secrets in kube-system lesen',
  'advice.nodeAndRbac.users': 'prüfen Sie die Role-Bindings von system:authenticated',
  'found.nodeAndRbac.nodes': 'ein Node kann Secrets lesen, die keiner seiner Pods verwendet',
  'advice.nodeAndRbac.nodes': 'prüfen Sie die Role-Bindings von system:nodes',
  'found.nodeAndRbac.ok':
    'einem Benutzer ohne Rechte und einem Node ohne Pods wird der Zugriff auf Secrets in kube-system verweigert',

  'found.noInsecurePort.open': '{place} ist offen',
  'found.noInsecurePort.http': '{place} akzeptiert HTTP ohne TLS',
  'found.noInsecurePort.etcd': 'etcd auf {place} akzeptiert Clients ohne Zertifikat',
  'found.noInsecurePort.kubelet': 'das Kubelet auf {node} zeigt anonymen Clients seine Pods',
  'found.noInsecurePort.ok':
    'unsichere Ports sind geschlossen; etcd und Kubelets lehnen Anfragen ohne Zugangsdaten ab',
  'advice.noInsecurePort': 'schließen Sie den Port, oder verlangen Sie Client-Zertifikate',

  'found.profilingOff.ok': '/debug/pprof/ liefert auf jeder Komponente 404',
  'found.profilingOff.on': 'Profiling ist eingeschaltet auf {components}',

  'found.controlPlaneTaints.none': 'kein Node trägt das Label einer Control Plane',
  'advice.controlPlaneTaints.none': 'setzen Sie das Label {label}',
  'found.controlPlaneTaints.ok': '{nodes} haben den Taint {taint}',
  'found.controlPlaneTaints.open': 'ohne Taint: {nodes}',

  'found.staticPodRequests.none': 'keine statischen Pods in der API gefunden',
  'advice.staticPodRequests.none': 'prüfen Sie, ob Kubelets den API-Server erreichen',
  'found.staticPodRequests.ok': 'alle {count} statischen Pods fordern CPU an',
  'found.staticPodRequests.without': 'ohne CPU-Anforderung: {pods}',
  'advice.staticPodRequests.without': 'setzen Sie resources.requests in ihren Manifesten',

  'found.certificateRotation.expired': '{name} ist abgelaufen',
  'found.certificateRotation.stale': 'Server liefern noch das alte Zertifikat aus: {names}',
  'advice.certificateRotation.stale':
    'starten Sie sie neu, wenn sie es nicht innerhalb einer Minute neu laden',
  'found.certificateRotation.soon': {
    one: '{name} läuft in {count} Tag ab',
    other: '{name} läuft in {count} Tagen ab',
  },
  'found.certificateRotation.ok': {
    one: '{count} Server liefert das Zertifikat auf dem Datenträger aus; als nächstes läuft {name} ab, in {days} Tagen',
    other:
      '{count} Server liefern das Zertifikat auf dem Datenträger aus; als nächstes läuft {name} ab, in {days} Tagen',
  },

  'found.backups.none': 'keine Snapshots in {folder}',
  'advice.backups.none': 'schalten Sie geplante Snapshots ein, oder führen Sie pilothouse snapshot save aus',
  'found.backups.old': {
    one: 'der neueste Snapshot ist {count} Tag alt',
    other: 'der neueste Snapshot ist {count} Tage alt',
  },
  'advice.backups.old': 'planen Sie mindestens einen Snapshot am Tag',
  'found.backups.elsewhere': {
    one: '{count} Snapshot in {folder}, jünger als ein Tag, auf einem anderen Datenträger als etcd',
    other:
      '{count} Snapshots in {folder}, der neueste jünger als ein Tag, auf einem anderen Datenträger als etcd',
  },
  'found.backups.sameDisk': {
    one: '{count} Snapshot in {folder}, jünger als ein Tag, auf demselben Datenträger wie etcd',
    other:
      '{count} Snapshots in {folder}, der neueste jünger als ein Tag, auf demselben Datenträger wie etcd',
  },
  'found.backups.unscheduled': {
    one: '{count} Snapshot, der neueste weniger als einen Tag alt in {folder}, aber keiner ist geplant',
    other: '{count} Snapshots, der neueste weniger als einen Tag alt in {folder}, aber keiner ist geplant',
  },
  'advice.backups.elsewhere':
    'pilothouse harden apply --backup-directory DIR, mit einem Verzeichnis auf einem anderen Datenträger oder Rechner',

  'found.monitoring.down': 'keine Metriken von {targets}',
  'advice.monitoring.down': 'prüfen Sie, ob die Komponente läuft und warum /metrics fehlschlägt',
  'found.monitoring.ok': '{count} Ziele liefern Metriken, der neueste Messwert ist jünger als eine Minute',
  'found.monitoring.unrecorded': '{count} Ziele liefern Metriken, aber sie werden nicht aufgezeichnet',
  'advice.monitoring.unrecorded':
    'betreiben Sie den Cluster in der Konsole, oder fragen Sie ihn mit Prometheus ab',

  'found.controlSocket.pipe': 'nur der Eigentümer kann die Pipe öffnen',
  'advice.controlSocket.directory': 'entfernen Sie dieses Verzeichnis und starten Sie den Cluster neu',
  'found.controlSocket.none': 'kein Steuer-Socket ist offen',
  'found.controlSocket.ok': 'nur der Eigentümer hat Zugriff auf {socket} und das Verzeichnis',
  'found.controlSocket.kind': '{path} ist kein Socket',
  'found.file.owner': '{path} gehört Benutzer {user}',
  'found.file.mode': '{path} hat den Modus {mode}',
  'advice.controlSocket.modes': 'chmod 600 {socket}, und chmod 700 für das Verzeichnis',

  'found.noExposure.keys': 'Unbefugte bekommen die Schlüssel von etcd auf {places}',
  'found.noExposure.key.plain': '{place} im Klartext',
  'found.noExposure.key.tls': '{place} über TLS ohne Client-Zertifikat',
  'found.noExposure.beyond': 'von anderen Rechnern erreichbar: {places}',
  'found.noExposure.foreign': 'ein Prozess eines anderen Programms lauscht auf {places}',
  'found.noExposure.undeclared': 'keine Komponente und kein Objekt deklariert {places}',
  'advice.noExposure':
    'beenden Sie den Prozess, der dort lauscht, oder entfernen Sie das Flag, das den Port öffnet, aus dem Manifest',
  'found.noExposure.ok': {
    one: '{count} Port ohne Zugangsdaten auf Schlüssel von etcd geprüft, keiner liefert sie; sonst lauscht nichts, und nichts außerhalb von Loopback',
    other:
      '{count} Ports ohne Zugangsdaten auf Schlüssel von etcd geprüft, keiner liefert sie; sonst lauscht nichts, und nichts außerhalb von Loopback',
  },
  'found.noExposure.partly': {
    one: '{count} Port ohne Zugangsdaten auf Schlüssel von etcd geprüft, keiner liefert sie; dieses System listet offene Ports nicht auf',
    other:
      '{count} Ports ohne Zugangsdaten auf Schlüssel von etcd geprüft, keiner liefert sie; dieses System listet offene Ports nicht auf',
  },

  'found.fileModes.inherited': 'das Verzeichnis erbt die Zugriffsliste seines Benutzers',
  'found.fileModes.ok': 'kein anderer Benutzer kann Dateien in {folder} lesen',
  'advice.fileModes': 'chmod -R go= {folder}, und chown für Dateien anderer Benutzer',

  'found.kubeletAccess.anonymous': 'das Kubelet auf {node} beantwortet {paths} ohne Zugangsdaten',
  'found.kubeletAccess.unauthorized':
    'das Kubelet auf {node} beantwortet {paths} für ein Zertifikat ohne Rechte auf Nodes',
  'found.kubeletAccess.ok':
    '{count} Kubelets lehnen Anfragen ohne Zugangsdaten (401) und ohne Berechtigung (403) ab',
  'advice.kubeletAccess':
    'setzen Sie authentication.anonymous.enabled: false und authorization.mode: Webhook für das Kubelet',

  'found.nodeIdentity.user': 'das Kubelet auf {node} meldet sich als {user} an, nicht als {expected}',
  'found.nodeIdentity.secrets': '{user} kann die Secrets in kube-system auflisten',
  'found.nodeIdentity.bound': 'ClusterRoleBinding {binding} gibt system:node an {subject}',
  'found.nodeIdentity.failed': 'das Kubelet auf {node}: {why}',
  'advice.nodeIdentity.bound':
    'löschen Sie die Bindung; der Node-Authorizer gibt Nodes schon den nötigen Zugriff',
  'advice.nodeIdentity':
    'starten Sie den Cluster neu: pilothouse up stellt jedem Node ein eigenes Zertifikat aus',
  'found.nodeIdentity.ok': {
    one: '{count} Node hat ein eigenes Zertifikat und kann keine Secrets anderer Nodes lesen',
    other:
      '{count} Nodes haben eigene Zertifikate; die geprüften Nodes können keine Secrets anderer Nodes lesen',
  },

  'found.tlsSuites.weak': '{server} ({place}) akzeptiert {suites}',
  'found.tlsSuites.balancer': 'der Load Balancer',
  'found.tlsSuites.kubelet': 'das Kubelet auf {node}',
  'advice.tlsSuites':
    'entfernen Sie --tls-cipher-suites und --cipher-suites, oder nennen Sie nur Suites mit ECDHE und AES-GCM oder ChaCha20-Poly1305',
  'found.tlsSuites.silent': 'kein Server des Clusters antwortet',
  'found.tlsSuites.ok': '{count} Ports lehnen TLS 1.0, TLS 1.1 und schwache Cipher-Suites ab',

  'found.unenforcedObjects.ok': 'keine Objekte von Arten, die dieser Cluster nicht durchsetzt',
  'found.unenforcedObjects.some': 'gespeichert, aber nicht durchgesetzt: {objects}',
  'advice.unenforcedObjects':
    'verlassen Sie sich nicht darauf; löschen Sie sie, oder setzen Sie sie auf andere Weise durch',

  'found.hosts.host': 'Host {host} ist im Zustand {phase}',
  'found.hosts.component': '{component} auf {host} ist im Zustand {phase}',
  'found.hosts.ok': 'alle Hosts und Komponenten sind bereit',
  'advice.hosts': 'beheben Sie das zuerst',
  'found.etcd.member': '{member}: {why}',
  'found.etcd.ok': { one: '{count} Mitglied ist gesund', other: '{count} Mitglieder sind gesund' },
  'advice.etcd': 'vor einem Upgrade müssen alle etcd-Mitglieder gesund sein',
  'advice.etcd.quorum': 'stellen Sie zuerst das Quorum wieder her',
  'found.skew.ok': 'Kubelets liegen höchstens {minors} Minor-Versionen von {target} entfernt',
  'found.skew.node': '{node} läuft mit {version}',
  'advice.skew': 'Kubelets dürfen bis zu {minors} Minor-Versionen älter als {target} sein, aber nicht neuer',
  'found.nodes.ok': { one: '{count} Node ist Ready', other: '{count} Nodes sind Ready' },
  'found.nodes.notReady': 'nicht Ready: {nodes}',
  'advice.nodes': 'prüfen Sie sie mit kubectl describe node',
  'found.budgets.ok': 'alle Budgets erlauben Unterbrechungen',
  'found.budgets.shut': '{budget} erlaubt keine Unterbrechungen',
  'advice.budgets': 'das Leeren von Nodes wartet auf diese Budgets',
  'found.certificates.ok': 'keines läuft innerhalb von {days} Tagen ab',
  'found.certificates.soon': 'laufen innerhalb von {days} Tagen ab: {names}',
} as const;
