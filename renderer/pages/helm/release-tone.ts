/** helm's words for a revision, and those for the health of an object. */
export const toneOfStatus = (status: string): 'plain' | 'idle' | 'warn' | 'error' | 'accent' => {
  if (status === 'deployed' || status === 'ok') return 'accent';
  if (status === 'failed' || status === 'missing') return 'error';
  if (status.startsWith('pending') || status === 'progressing' || status === 'uninstalling') return 'warn';
  return status === 'superseded' || status === 'uninstalled' ? 'idle' : 'plain';
};
