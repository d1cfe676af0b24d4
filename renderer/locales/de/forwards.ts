export const forwardsPage = {
  'forwards.title': 'Portweiterleitungen',
  'forwards.lead': { one: '{count} Port.', other: '{count} Ports.' },
  'forwards.list': 'Weitergeleitete Ports',
  'forwards.note':
    'Offen, bis die Konsole beendet wird. Wird ein Pod ersetzt, wechselt die Weiterleitung zum nächsten bereiten Pod.',
  'forwards.failed': 'Die weitergeleiteten Ports sind nicht lesbar',
  'forwards.none': 'Keine weitergeleiteten Ports',
  'forwards.none.text':
    'Öffnen Sie einen Pod oder Service und wählen Sie „Ports“, um einen Port auf diesen Rechner weiterzuleiten.',
  'forwards.state.open': 'Offen',
  'forwards.state.waiting': 'Wartet',
  'forwards.state.failed': 'Fehler',
  'forwards.column.local': 'Adresse',
  'forwards.column.target': 'Pod und Port',
  'forwards.column.cluster': 'Cluster',
  'forwards.column.state': 'Zustand',
  'forwards.column.connections': 'Verbindungen',
  'forwards.column.bytes': 'Verkehr',
  'forwards.close': 'Port {port} schließen',
} as const;
