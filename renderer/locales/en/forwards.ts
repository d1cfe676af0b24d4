/** Ports of pods on this machine. */
export const forwardsPage = {
  'forwards.title': 'Port forwards',
  'forwards.lead': { one: '{count} port.', other: '{count} ports.' },
  'forwards.list': 'Forwarded ports',
  'forwards.note':
    'Open until the console stops. If a pod is replaced, its forward moves to the next ready pod.',
  'forwards.failed': 'The forwarded ports cannot be read',
  'forwards.none': 'No forwarded ports',
  'forwards.none.text':
    'Open a pod or a Service and choose Ports to forward one of its ports to this machine.',
  'forwards.state.open': 'Open',
  'forwards.state.waiting': 'Waiting',
  'forwards.state.failed': 'Failed',
  'forwards.column.local': 'Address',
  'forwards.column.target': 'Pod and port',
  'forwards.column.cluster': 'Cluster',
  'forwards.column.state': 'State',
  'forwards.column.connections': 'Connections',
  'forwards.column.bytes': 'Traffic',
  'forwards.close': 'Close port {port}',
} as const;
