export const controllers = {
  'controllers.gap.foreign':
    'Warteschlangen und Abgleiche sind unbekannt: Die Controller-Manager dieses Clusters antworten nur auf ihren Hosts, und die von Upstream zeichnen keine Abgleiche auf',
  'controllers.gap.lease': 'die Lease eines Managers konnte nicht gelesen werden: {why}',
  'controllers.gap.format': 'die Antwort stammt nicht von einem Controller-Manager dieser Version',
} as const;
