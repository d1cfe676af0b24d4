export const operations = {
  'action.host.kill': '{host} hart beenden',
  'action.host.stop': '{host} anhalten',
  'action.host.start': '{host} starten',
  'action.host.pause': '{host} einfrieren',
  'action.host.resume': '{host} fortsetzen',
  'action.component.kill': '{component} auf {host} hart beenden',
  'action.component.stop': '{component} auf {host} anhalten',
  'action.component.start': '{component} auf {host} starten',
  'action.fault.cut': '{from} und {to} voneinander trennen',
  'action.fault.cut.oneWay': 'Abschneiden, was {from} an {to} sendet',
  'action.fault.delay': '{from} und {to} je Richtung um {ms} ms verzögern',
  'action.fault.delay.oneWay': 'Was {from} an {to} sendet, um {ms} ms verzögern',
  'action.fault.slowDisk': 'Platte von {host} um {ms} ms verlangsamen',
  'action.fault.clock.ahead': 'Uhr von {host} um {ms} ms vorstellen',
  'action.fault.clock.behind': 'Uhr von {host} um {ms} ms zurückstellen',
  'action.fault.isolate': '{host} isolieren',
  'action.fault.heal': 'Störung {id} beheben',
  'action.fault.heal.all': 'Alle Störungen beheben',
  'action.member.moveLeader': 'Führung von etcd an {member} geben',
  'action.member.remove': '{member} aus etcd entfernen',
  'action.member.add': 'Mitglied hinzufügen',
  'action.etcd.defragment': '{member} defragmentieren',
  'action.etcd.defragment.all': 'Alle Mitglieder defragmentieren',
  'action.etcd.compact': 'Bis zur jetzigen Revision verdichten',
  'action.etcd.compact.to': 'Bis Revision {revision} verdichten',
  'action.etcd.disarm': 'Alarme von etcd löschen',
  'action.snapshot.save': 'Snapshot anlegen',
  'action.snapshot.restore': '{file} zurückspielen',
  'action.snapshot.delete': '{file} löschen',
  'action.upgrade.apply': 'Auf {version} aktualisieren',
  'action.upgrade.rollback': 'Aktualisierung zurücknehmen',
  'action.certificates.renew': { one: '{count} Zertifikat erneuern', other: '{count} Zertifikate erneuern' },
  'action.certificates.renew.all': 'Alle Zertifikate erneuern',
  'action.node.drain': '{node} leeren',
  'action.question': '{title}?',

  'action.means.host.kill': 'Der Prozess endet sofort, wie bei `kill -9` oder einem Stromausfall.',
  'action.means.host.stop':
    'Die Komponenten enden der Reihe nach. Der Host bleibt aus, bis er gestartet wird.',
  'action.means.host.start': 'Der Prozess und alle Komponenten starten und holen auf.',
  'action.means.host.pause':
    'Der Prozess steht still wie eine Maschine, die hängt: Verbindungen bleiben offen, nichts antwortet.',
  'action.means.host.resume': 'Der Prozess läuft weiter, wo er stillstand.',
  'action.means.component.kill': 'Der Thread endet sofort. Das Kubelet des Hosts startet ihn neu.',
  'action.means.component.stop':
    'Das Manifest wird beiseitegelegt; die Komponente bleibt aus, bis sie gestartet wird.',
  'action.means.component.start':
    'Das Manifest wird zurückgelegt und das Kubelet des Hosts startet die Komponente.',
  'action.means.fault.cut':
    'Auf der Verbindung kommt nichts an und niemand erfährt es, wie bei verlorenen Paketen; offene Verbindungen bleiben offen.',
  'action.means.fault.delay': 'Alles auf der Verbindung kommt an, aber später.',
  'action.means.fault.slow-disk': 'Jedes fsync des Logs seines Mitglieds dauert so viel länger.',
  'action.means.fault.clock': 'Die Uhr von allem auf dem Host geht falsch.',
  'action.means.fault.isolate':
    'Die Verbindungen zu allen anderen Hosts und zum Load-Balancer sind getrennt; der Prozess läuft weiter.',

  'effect.quorum.holds':
    '{after} von {voters} Mitgliedern von etcd stimmen ab, {needed} nötig: Das Quorum hält',
  'effect.quorum.spare': {
    one: '{after} von {voters} Mitgliedern von etcd stimmen ab, {needed} nötig: Das Quorum hält, {count} weiterer Ausfall wird verkraftet',
    other:
      '{after} von {voters} Mitgliedern von etcd stimmen ab, {needed} nötig: Das Quorum hält, {count} weitere Ausfälle werden verkraftet',
  },
  'effect.quorum.last':
    '{after} von {voters} Mitgliedern von etcd stimmen ab, {needed} nötig: Das Quorum hält, kein weiterer Ausfall wird verkraftet',
  'effect.quorum.lost':
    '{after} von {voters} Mitgliedern von etcd stimmen ab, {needed} nötig: Nichts kann geschrieben werden, bis ein Mitglied zurück ist',
  'effect.quorum.back':
    '{after} von {voters} Mitgliedern von etcd stimmen ab, {needed} nötig: Schreiben ist wieder möglich',
  'effect.etcdLeaderMoves':
    '`{subject}` führt etcd jetzt; ein anderes Mitglied übernimmt, Schreiben pausiert für eine Wahl, etwa 1 s',
  'effect.etcdLeaderMoves.to':
    '`{subject}` übernimmt die Führung von etcd: Schreiben pausiert weniger als eine Sekunde',
  'effect.apiServersLeft': {
    one: '{count} API-Server bleibt hinter dem Load-Balancer',
    other: '{count} API-Server bleiben hinter dem Load-Balancer',
  },
  'effect.noApiServerLeft': 'Kein API-Server bleibt: `kubectl` und diese Konsole erhalten keine Antwort',
  'effect.leaseMoves': 'Ein anderer `{subject}` übernimmt, wenn die Lease abläuft, etwa 15 s',
  'effect.leasesMove': {
    one: '{count} Lease zieht auf einen anderen Host um, wenn sie abläuft, etwa 15 s: {names}',
    other: '{count} Leases ziehen auf andere Hosts um, wenn sie ablaufen, etwa 15 s: {names}',
  },
  'effect.podsMove': { one: '{count} Pod muss umziehen', other: '{count} Pods müssen umziehen' },
  'effect.podsMove.from': {
    one: '{count} Pod verlässt `{subject}`',
    other: '{count} Pods verlassen `{subject}`',
  },
  'effect.nodeStopsAnswering':
    'Knoten `{subject}` antwortet nicht mehr: NotReady nach 50 s, seine Pods ziehen nach 5 min um',
  'effect.nodesStopAnswering': {
    one: '{count} Knoten antwortet nicht mehr: NotReady nach 50 s, seine Pods ziehen nach 5 min um',
    other: '{count} Knoten antworten nicht mehr: NotReady nach 50 s, ihre Pods ziehen nach 5 min um',
  },
  'effect.memberAnswersNothing': 'Mitglied `{subject}` antwortet währenddessen nicht',
  'effect.writesPause': 'Schreiben pausiert für einen Moment',
  'effect.everythingReplaced': 'Jedes Objekt im Cluster wird durch den Inhalt des Snapshots ersetzt',
  'effect.componentRestarts': '`{subject}` startet neu',
  'effect.hostRestarts': 'Komponenten von `{subject}` starten neu, eine nach der anderen',
  'effect.evenMembers':
    'Eine gerade Zahl von Mitgliedern ({count}) verkraftet nicht mehr Ausfälle als ein Mitglied weniger',
  'effect.none': 'Nichts, was läuft, wird unterbrochen',

  'action.dialog.asking': 'Die Folgen werden berechnet',
  'action.dialog.unknown': 'Die Folgen ließen sich nicht berechnen: {message}',
  'action.dialog.type': '{name} eingeben, um es zu erlauben',
  'action.dialog.typeFirst': 'Erst {name} eingeben',
  'action.dialog.shell': 'Dasselbe auf der Kommandozeile:',
  'action.dialog.readOnly': 'Der Cluster ist nur lesbar: erst Änderungen erlauben',

  'operations.label': 'Vorgänge',
  'operations.running': { one: '{count} Vorgang läuft', other: '{count} Vorgänge laufen' },
  'operations.one': '{title}, Schritt {step} von {steps}',
  'operations.empty.title': 'Noch kein Vorgang',
  'operations.empty.text':
    'Was Sie mit Hosts, etcd und Aktualisierungen tun, steht hier, während es läuft und danach.',
  'operations.recent': 'Vorgänge',
  'operations.ago': 'Beendet {ago}',
  'operations.state.running': 'Läuft',
  'operations.state.paused': 'Angehalten',
  'operations.state.done': 'Fertig',
  'operations.state.failed': 'Fehlgeschlagen',
  'operations.step.waiting': 'Wartet',
  'operations.step.running': 'Läuft',
  'operations.step.done': 'Fertig',
  'operations.step.failed': 'Fehlgeschlagen',
  'operations.step.skipped': 'Übersprungen',
  'operations.pause': 'Nach diesem Schritt anhalten',
  'operations.resume': 'Fortsetzen',
  'operations.pauseFailed': 'Der Vorgang wurde nicht angehalten',
  'operations.resumeFailed': 'Der Vorgang läuft nicht weiter',
} as const;
