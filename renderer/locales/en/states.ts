export const states = {
  'fresh.opening': 'Waiting for data',
  'fresh.live': 'Live',
  'fresh.stale': 'Stale, {age} old',
  'fresh.paused': 'Paused',
  'fresh.refused': 'Not offered',
  'fresh.last': 'Last update {time}',
  'fresh.never': 'Nothing received yet',

  'loading.rows': 'Rows are being read',
  'error.details': 'Details',
  'error.retry': 'Try again',
} as const;
