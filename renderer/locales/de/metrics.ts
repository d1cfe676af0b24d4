export const metrics = {
  'metrics.title': 'Messwerte',
  'metrics.of': 'Messwerte: {section}',
  'metrics.keywords': 'messwerte metriken diagramme prometheus latenz alarme',
  'metrics.lead.ok': {
    one: '{count} kritischer Wert liegt innerhalb seiner Grenze.',
    other: '{count} kritische Werte liegen innerhalb ihrer Grenzen.',
  },
  'metrics.lead.firing': {
    one: '{count} kritischer Wert liegt über seiner Grenze.',
    other: '{count} kritische Werte liegen über ihren Grenzen.',
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
  'metrics.section.nodes': 'Knoten',
  'metrics.reading': 'Messwerte werden gelesen',
  'metrics.failed': 'Die Messwerte lassen sich nicht lesen',
  'metrics.refused': 'Für diesen Cluster werden keine Messwerte aufbewahrt',
  'metrics.refused.shell': 'Was ein API-Server über sich sagt:',

  'metrics.critical': 'Kritische Werte',
  'metrics.state.ok': 'Innerhalb der Grenze',
  'metrics.state.firing': 'Über der Grenze',
  'metrics.state.unknown': 'Noch kein Messwert',
  'metrics.limit': 'Grenze {value}',
  'metrics.limit.above': 'Grenze {value}, außerhalb',
  'metrics.limit.none': 'keine erwartet',
  'metrics.now': 'Jetzt',
  'metrics.threshold': 'Grenze',
  'metrics.since': 'Überschritten seit',
  'metrics.subject': 'auf {name}',
  'metrics.means': 'Was es bedeutet',
  'metrics.todo': 'Was zu tun ist',
  'metrics.toChart': 'Diagramm zeigen',

  'metrics.critical.apiLatencyP99': 'API-Latenz p99',
  'metrics.means.apiLatencyP99':
    'Eine von hundert Anfragen dauert länger. Watches und Streams zählen nicht. Langsame Antworten verzögern jeden Controller und jedes `kubectl`.',
  'metrics.todo.apiLatencyP99':
    'Unter Anfragen die langsamsten ansehen: Wartet eine Stufe auf etcd, liegt es an dessen Platte, bei Admission an einem Webhook, bei großen Listen an einem Client, der ohne Seiten liest.',
  'metrics.critical.apiErrors': 'API-Fehler',
  'metrics.means.apiErrors':
    'Der Anteil der Anfragen, die mit 500 oder darüber enden. Clients versuchen es erneut: wenige bemerkt niemand, viele sind ein Ausfall.',
  'metrics.todo.apiErrors':
    'Unter Anfragen nach 5xx filtern und die Stufe lesen, die scheiterte. Ist etcd genannt, zuerst dessen Leader und Platte ansehen.',
  'metrics.critical.etcdLatencyP99': 'etcd-Latenz p99',
  'metrics.means.etcdLatencyP99':
    'Wie lange ein Commit oder ein Schreiben ins Log im langsamsten Hundertstel dauert. Jeder Schreibzugriff des Clusters wartet darauf.',
  'metrics.todo.etcdLatencyP99':
    'etcd eine eigene Platte mit schnellem fsync geben und schwere Arbeit von seinem Host fernhalten. Defragmentieren hilft, wenn die Datenbank viel größer ist als ihr Inhalt.',
  'metrics.critical.etcdLeaderChanges': 'Leader-Wechsel in etcd',
  'metrics.means.etcdLeaderChanges':
    'Wie oft in den letzten Minuten ein anderes Mitglied die Führung nahm. Während jeder Wahl ruhen Schreibzugriffe.',
  'metrics.todo.etcdLeaderChanges':
    'Ein Wechsel nach einem Neustart ist normal. Mehr kommen von langsamen Platten, einem ausgelasteten Host oder verlorenen Paketen: fsync und Laufzeiten der Mitglieder vergleichen.',
  'metrics.critical.etcdDbSize': 'etcd-Datenbank',
  'metrics.means.etcdDbSize':
    'Die Größe der Datenbank auf der Platte. An ihrer Quote löst etcd einen Alarm aus und nimmt nichts mehr an.',
  'metrics.todo.etcdDbSize':
    'Mitglieder verdichten und defragmentieren, dann nach dem suchen, was wächst: Events, oder eigene Ressourcen, die niemand löscht.',
  'metrics.critical.unschedulablePods': 'Nicht planbare Pods',
  'metrics.means.unschedulablePods':
    'Pods, für die der Scheduler jeden Knoten ansah und keinen fand. Sie warten, bis sich etwas ändert.',
  'metrics.todo.unschedulablePods':
    'Das Scheduler-Röntgen eines solchen Pods öffnen: Es zeigt für jeden Knoten, welche Regel ablehnte. Oft ist ein Request größer als jeder Knoten oder ein Taint wird nicht toleriert.',
  'metrics.critical.pendingPods': 'Wartende Pods',
  'metrics.means.pendingPods':
    'Pods, die in einer Warteschlange des Schedulers stehen. Eine kurze Spitze nach einem Rollout ist normal, eine wachsende Schlange nicht.',
  'metrics.todo.pendingPods':
    'Prüfen, ob ein Scheduler führt (Leases) und seine Latenz wie gewohnt ist. Sind beide in Ordnung, sind die Knoten voll.',
  'metrics.critical.queueDepth': 'Controller-Schlange',
  'metrics.means.queueDepth':
    'Objekte, die auf einen Controller warten. Leert sich die Schlange nicht, folgt der Cluster dem Erklärten nicht mehr.',
  'metrics.todo.queueDepth':
    'Nachsehen, welcher Controller es ist. Abgelehnte oder langsame Anfragen halten ihn auf: Anfragen von `kube-controller-manager` ansehen.',
  'metrics.critical.queueTimeP99': 'Wartezeit p99',
  'metrics.means.queueTimeP99':
    'Wie lange ein Objekt wartet, bis sein Controller es ansieht, im langsamsten Hundertstel.',
  'metrics.todo.queueTimeP99':
    'Mit der Latenz der API vergleichen: Ist sie gut, hat der Controller zu viel zu tun oder bremst sich selbst.',
  'metrics.critical.apiInFlight': 'API-Auslastung',
  'metrics.means.apiInFlight':
    'Der Anteil der Anfragen, an denen ein API-Server zugleich arbeiten darf. Bei 100 % antwortet er 429 und Clients müssen warten.',
  'metrics.todo.apiInFlight':
    'Unter Anfragen den Benutzer mit den meisten suchen. Ein weiterer API-Server oder eine eigene Prioritätsstufe für ihn gibt den anderen Raum.',

  'metrics.chart.apiRequests': 'Anfragen je Sekunde',
  'metrics.chart.apiLatencyP99': 'Latenz p99',
  'metrics.chart.apiErrors': 'Fehler (5xx), Anteil',
  'metrics.chart.apiInFlight': 'Anfragen in Arbeit',
  'metrics.chart.apiWatchers': 'Watches',
  'metrics.chart.apiServerCpu': 'CPU, Kerne',
  'metrics.chart.apiServerMemory': 'Speicher',
  'metrics.chart.etcdPuts': 'Schreibzugriffe je Sekunde',
  'metrics.chart.etcdCommitP99': 'Backend-Commit p99',
  'metrics.chart.etcdFsyncP99': 'WAL-fsync p99',
  'metrics.chart.etcdPeerRoundTripP99': 'Laufzeit zu Peers p99',
  'metrics.chart.etcdLeaderChanges': 'Gesehene Leader-Wechsel',
  'metrics.chart.etcdDbBytes': 'Datenbank',
  'metrics.chart.etcdProposalsPending': 'Offene Vorschläge',
  'metrics.chart.schedulerAttempts': 'Planungsversuche je Sekunde',
  'metrics.chart.schedulerLatencyP99': 'Planungslatenz p99',
  'metrics.chart.schedulerPending': 'Wartende Pods nach Schlange',
  'metrics.chart.queueDepth': 'Länge der Schlangen',
  'metrics.chart.queueAdds': 'Zugänge je Sekunde',
  'metrics.chart.queueTimeP99': 'Zeit in der Schlange p99',
  'metrics.chart.nodePods': 'Pods je Knoten',
  'metrics.chart.nodeCpu': 'CPU, Kerne je Knoten',
  'metrics.chart.nodeMemory': 'Speicher je Knoten',
  'metrics.chart.none': 'Kein Messwert in diesem Zeitraum',
  'metrics.chart.more': { one: '{count} weitere in der Tabelle', other: '{count} weitere in der Tabelle' },
  'metrics.chart.spoken': '{label}: {values}',
  'metrics.asTable': 'Als Tabelle zeigen',
  'metrics.asChart': 'Als Diagramm zeigen',
  'metrics.table.name': 'Linie',
  'metrics.table.last': 'Zuletzt',
  'metrics.table.lowest': 'Kleinster',
  'metrics.table.mean': 'Mittel',
  'metrics.table.highest': 'Größter',

  'metrics.targets': 'Ziele',
  'metrics.targets.up': { one: '{up} von {count} antwortet', other: '{up} von {count} antworten' },
  'metrics.target.component': 'Komponente',
  'metrics.target.instance': 'Instanz',
  'metrics.target.state': 'Zustand',
  'metrics.target.last': 'Letzter Messwert',
  'metrics.target.message': 'Was es sagte',
  'metrics.target.up': 'Antwortet',
  'metrics.target.down': 'Schweigt',
  'metrics.target.never': 'nie',
} as const;
