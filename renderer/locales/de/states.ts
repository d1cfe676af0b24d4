export const states = {
  'fresh.opening': 'Wartet auf Daten',
  'fresh.live': 'Live',
  'fresh.stale': 'Veraltet, {age} alt',
  'fresh.paused': 'Angehalten',
  'fresh.refused': 'Nicht angeboten',
  'fresh.last': 'Zuletzt aktualisiert {time}',
  'fresh.never': 'Noch nichts empfangen',

  'loading.rows': 'Zeilen werden gelesen',
  'error.details': 'Details',
  'error.retry': 'Erneut versuchen',
} as const;
