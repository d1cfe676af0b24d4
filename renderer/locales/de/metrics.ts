export const metrics = {
  'metrics.title': 'Metriken',
  'metrics.of': 'Metriken: {section}',
  'metrics.keywords': 'messwerte metriken diagramme prometheus latenz alarme',
  'metrics.lead.none': 'Keine Messwerte der wichtigen Metriken. Den Grund zeigt Targets.',
  'metrics.lead.ok': {
    one: '{count} wichtige Metrik ist innerhalb ihres Grenzwerts.',
    other: '{count} wichtige Metriken sind innerhalb ihrer Grenzwerte.',
  },
  'metrics.lead.firing': {
    one: '{count} wichtige Metrik ist über ihrem Grenzwert.',
    other: '{count} wichtige Metriken sind über ihren Grenzwerten.',
  },
  'metrics.every': 'Live, alle 5 s',
  'metrics.range': 'Zeitraum',
  'metrics.range.15m': '15 min',
  'metrics.range.1h': '1 h',
  'metrics.range.6h': '6 h',
  'metrics.range.24h': '24 h',
  'metrics.sections': 'Komponenten',
  'metrics.section.apiserver': 'API-Server',
  'metrics.section.etcd': 'etcd',
  'metrics.section.scheduler': 'Scheduler',
  'metrics.section.controllers': 'Controller',
  'metrics.section.nodes': 'Nodes',
  'metrics.reading': 'Metriken werden geladen',
  'metrics.failed': 'Metriken können nicht gelesen werden',
  'metrics.refused': 'Für diesen Cluster werden keine Metriken erfasst',
  'metrics.refused.shell': 'Metriken eines API-Servers lesen:',

  'metrics.critical': 'Wichtige Metriken',
  'metrics.state.ok': 'Innerhalb des Grenzwerts',
  'metrics.state.firing': 'Über dem Grenzwert',
  'metrics.state.unknown': 'Noch keine Messwerte',
  'metrics.limit': 'Grenzwert {value}',
  'metrics.limit.above': 'Grenzwert {value}, außerhalb der Skala',
  'metrics.limit.none': 'erwartet 0',
  'metrics.now': 'Aktuell',
  'metrics.threshold': 'Grenzwert',
  'metrics.since': 'Überschritten seit',
  'metrics.subject': 'auf {name}',
  'metrics.means': 'Bedeutung',
  'metrics.todo': 'Was zu tun ist',
  'metrics.toChart': 'Diagramm anzeigen',

  'metrics.critical.apiLatencyP99': 'API-Latenz p99',
  'metrics.means.apiLatencyP99':
    'Eine von hundert Anfragen dauert länger als dieser Wert. Watches und Streams zählen nicht mit. Langsame Antworten verzögern jeden Controller und jeden `kubectl`-Aufruf.',
  'metrics.todo.apiLatencyP99':
    'Prüfen Sie unter Anfragen die langsamsten. Zeit in etcd deutet auf dessen Datenträger hin, Zeit in Admission auf einen Webhook, große Listen auf einen Client ohne Pagination.',
  'metrics.critical.apiErrors': 'API-Fehler',
  'metrics.means.apiErrors':
    'Anteil der Anfragen mit einem 5xx-Statuscode. Clients wiederholen sie; wenige bleiben unbemerkt, viele sind ein Ausfall.',
  'metrics.todo.apiErrors':
    'Filtern Sie unter Anfragen nach fehlgeschlagenen und prüfen Sie die fehlerhafte Stufe. Ist es etcd, prüfen Sie zuerst dessen Leader und Datenträger.',
  'metrics.critical.etcdLatencyP99': 'etcd-Latenz p99',
  'metrics.means.etcdLatencyP99':
    '99. Perzentil von Backend-Commits und WAL-fsyncs. Jeder Schreibzugriff im Cluster wartet darauf.',
  'metrics.todo.etcdLatencyP99':
    'Geben Sie etcd einen eigenen Datenträger mit schnellem fsync und halten Sie andere Last von seinem Host fern. Defragmentieren Sie, wenn die Datenbank viel größer ist als die genutzten Daten.',
  'metrics.critical.etcdLeaderChanges': 'Leader-Wechsel in etcd',
  'metrics.means.etcdLeaderChanges':
    'Wie oft der Leader in den letzten Minuten gewechselt hat. Schreibzugriffe pausieren während jeder Wahl.',
  'metrics.todo.etcdLeaderChanges':
    'Ein Wechsel nach einem Neustart ist normal. Mehrere deuten auf einen langsamen Datenträger, einen ausgelasteten Host oder Paketverlust hin. Vergleichen Sie fsync und Round-Trip-Zeiten der Mitglieder.',
  'metrics.critical.etcdDbSize': 'etcd-Datenbank',
  'metrics.means.etcdDbSize':
    'Größe der Datenbank auf dem Datenträger. Erreicht sie das Quota, löst etcd einen NOSPACE-Alarm aus und lehnt Schreibzugriffe ab.',
  'metrics.todo.etcdDbSize':
    'Kompaktieren und defragmentieren Sie die Mitglieder und suchen Sie dann, was wächst: oft Events oder Custom Resources, die nie gelöscht werden.',
  'metrics.critical.unschedulablePods': 'Nicht einplanbare Pods',
  'metrics.critical.repeatedFailures': 'Wiederholte Fehler',
  'metrics.means.repeatedFailures':
    'Ein Client schickt dieselbe Änderung immer wieder und bekommt denselben Fehler. Er steckt in einer Endlosschleife, die den API-Server Zeit kostet.',
  'metrics.todo.repeatedFailures':
    'Die Anfragen nach diesem Benutzer filtern: Sie zeigen, was er versucht und welchen Fehler er bekommt. Den Client neu starten oder das Objekt berichtigen, an dem er scheitert.',
  'metrics.means.unschedulablePods':
    'Pods, für die der Scheduler keinen geeigneten Node gefunden hat. Sie warten, bis sich der Cluster ändert.',
  'metrics.todo.unschedulablePods':
    'Öffnen Sie einen solchen Pod unter Scheduler: Für jeden Node sehen Sie, welches Plugin ihn ausgeschlossen hat. Häufige Ursachen sind Requests, die größer sind als jeder Node, und nicht tolerierte Taints.',
  'metrics.critical.pendingPods': 'Wartende Pods',
  'metrics.means.pendingPods':
    'Pods in einer Queue des Schedulers. Eine kurze Spitze nach einem Rollout ist normal, eine wachsende Queue nicht.',
  'metrics.todo.pendingPods':
    'Prüfen Sie unter Leases, ob ein Scheduler Leader ist, und prüfen Sie seine Latenz. Ist beides normal, sind die Nodes voll.',
  'metrics.critical.queueDepth': 'Länge der Controller-Queues',
  'metrics.means.queueDepth':
    'Objekte, die auf einen Controller warten. Leert sich eine Queue nicht, erreicht der Cluster den gewünschten Zustand nicht mehr.',
  'metrics.todo.queueDepth':
    'Finden Sie heraus, welcher Controller es ist. Abgelehnte oder langsame Anfragen halten ihn auf: Prüfen Sie unter Anfragen die von `kube-controller-manager`.',
  'metrics.critical.queueTimeP99': 'Queue-Wartezeit p99',
  'metrics.means.queueTimeP99':
    '99. Perzentil der Zeit, die ein Objekt wartet, bis sein Controller es abgleicht.',
  'metrics.todo.queueTimeP99':
    'Vergleichen Sie mit der API-Latenz. Ist sie normal, ist der Controller überlastet oder durch sein eigenes Rate Limit begrenzt.',
  'metrics.critical.apiInFlight': 'API-Auslastung',
  'metrics.means.apiInFlight':
    'Genutzter Anteil des Limits für gleichzeitige Anfragen. Bei 100 % antwortet der API-Server mit 429 und Clients müssen warten.',
  'metrics.todo.apiInFlight':
    'Suchen Sie unter Anfragen den Benutzer mit den meisten. Fügen Sie einen API-Server hinzu oder geben Sie diesem Benutzer ein eigenes Priority Level.',

  'metrics.chart.apiRequests': 'Anfragen pro Sekunde',
  'metrics.chart.apiLatencyP99': 'Latenz p99',
  'metrics.chart.apiErrors': 'Fehleranteil (5xx)',
  'metrics.chart.apiInFlight': 'Laufende Anfragen',
  'metrics.chart.apiWatchers': 'Watches',
  'metrics.chart.apiServerCpu': 'CPU, Kerne',
  'metrics.chart.apiServerMemory': 'Speicher',
  'metrics.chart.etcdPuts': 'Schreibzugriffe pro Sekunde',
  'metrics.chart.etcdCommitP99': 'Backend-Commit p99',
  'metrics.chart.etcdFsyncP99': 'WAL-fsync p99',
  'metrics.chart.etcdPeerRoundTripP99': 'Peer-Round-Trip p99',
  'metrics.chart.etcdLeaderChanges': 'Beobachtete Leader-Wechsel',
  'metrics.chart.etcdDbBytes': 'Datenbank',
  'metrics.chart.etcdProposalsPending': 'Ausstehende Proposals',
  'metrics.chart.schedulerAttempts': 'Scheduling-Versuche pro Sekunde',
  'metrics.chart.schedulerLatencyP99': 'Scheduling-Latenz p99',
  'metrics.chart.schedulerPending': 'Wartende Pods nach Queue',
  'metrics.chart.queueDepth': 'Länge der Queues',
  'metrics.chart.queueAdds': 'Zugänge pro Sekunde',
  'metrics.chart.queueTimeP99': 'Zeit in der Queue p99',
  'metrics.chart.nodePods': 'Pods pro Node',
  'metrics.chart.nodeCpu': 'CPU, Kerne pro Node',
  'metrics.chart.nodeMemory': 'Speicher pro Node',
  'metrics.chart.none': 'Keine Messwerte in diesem Zeitraum',
  'metrics.chart.more': { one: '{count} weitere in der Tabelle', other: '{count} weitere in der Tabelle' },
  'metrics.chart.spoken': '{label}: {values}',
  'metrics.asTable': 'Als Tabelle anzeigen',
  'metrics.asChart': 'Als Diagramm anzeigen',
  'metrics.table.name': 'Zeitreihe',
  'metrics.table.last': 'Zuletzt',
  'metrics.table.lowest': 'Min',
  'metrics.table.mean': 'Mittel',
  'metrics.table.highest': 'Max',

  'metrics.targets': 'Targets',
  'metrics.targets.up': { one: '{up} von {count} erreichbar', other: '{up} von {count} erreichbar' },
  'metrics.target.component': 'Komponente',
  'metrics.target.instance': 'Instanz',
  'metrics.target.state': 'Status',
  'metrics.target.last': 'Letzter Messwert',
  'metrics.target.message': 'Meldung',
  'metrics.target.up': 'Erreichbar',
  'metrics.target.down': 'Nicht erreichbar',
  'metrics.target.never': 'nie',
} as const;
