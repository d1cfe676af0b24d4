export const states = {
  'fresh.opening': 'Waiting for data',
  'fresh.live': 'Live',
  'fresh.stale': 'Stale, {age} old',
  'fresh.paused': 'Paused',
  'fresh.refused': 'Unavailable',
  'fresh.last': 'Last update {time}',
  'fresh.never': 'No data received yet',

  'loading.rows': 'Loading',
  'error.details': 'Details',
  'error.retry': 'Retry',
} as const;
