export const states = {
  'fresh.opening': 'Warten auf Daten',
  'fresh.live': 'Live',
  'fresh.stale': 'Veraltet, {age} alt',
  'fresh.paused': 'Pausiert',
  'fresh.refused': 'Nicht verfügbar',
  'fresh.last': 'Zuletzt aktualisiert {time}',
  'fresh.never': 'Noch keine Daten empfangen',

  'loading.rows': 'Wird geladen',
  'error.details': 'Details',
  'error.retry': 'Erneut versuchen',
} as const;
