export const metrics = {
  'metrics.title': 'Metrics',
  'metrics.of': 'Metrics of {section}',
  'metrics.keywords': 'metrics charts prometheus latency alerts dashboard',
  'metrics.lead.ok': {
    one: '{count} critical figure is within its limit.',
    other: '{count} critical figures are within their limits.',
  },
  'metrics.lead.firing': {
    one: '{count} critical figure is above its limit.',
    other: '{count} critical figures are above their limits.',
  },
  'metrics.every': 'Live, every 5 s',
  'metrics.range': 'Time range',
  'metrics.range.15m': '15 min',
  'metrics.range.1h': '1 h',
  'metrics.range.6h': '6 h',
  'metrics.range.24h': '24 h',
  'metrics.sections': 'Components',
  'metrics.section.apiserver': 'API server',
  'metrics.section.etcd': 'etcd',
  'metrics.section.scheduler': 'Scheduler',
  'metrics.section.controllers': 'Controllers',
  'metrics.section.nodes': 'Nodes',
  'metrics.reading': 'Samples are being read',
  'metrics.failed': 'The samples cannot be read',
  'metrics.refused': 'No samples are kept for this cluster',
  'metrics.refused.shell': 'What an API server tells about itself:',

  'metrics.critical': 'Critical figures',
  'metrics.state.ok': 'Within its limit',
  'metrics.state.firing': 'Above its limit',
  'metrics.state.unknown': 'No sample yet',
  'metrics.limit': 'limit {value}',
  'metrics.limit.above': 'limit {value}, off scale',
  'metrics.limit.none': 'none expected',
  'metrics.now': 'Now',
  'metrics.threshold': 'Limit',
  'metrics.since': 'Fires since',
  'metrics.subject': 'on {name}',
  'metrics.means': 'What it means',
  'metrics.todo': 'What to do',
  'metrics.toChart': 'Show its chart',

  'metrics.critical.apiLatencyP99': 'API latency p99',
  'metrics.means.apiLatencyP99':
    'One request in a hundred takes longer than this. Watches and streams are not counted. Slow answers delay every controller and every `kubectl`.',
  'metrics.todo.apiLatencyP99':
    'Look at the slowest requests under Requests: a stage that waits for etcd points to its disk, a stage of admission to a webhook, large lists to a client that reads without pages.',
  'metrics.critical.apiErrors': 'API errors',
  'metrics.means.apiErrors':
    'The share of requests that end with a code of 500 or above. Clients try again, so a few are noticed by nobody, many are an outage.',
  'metrics.todo.apiErrors':
    'Under Requests, filter for codes of 5xx and read the stage that failed. When etcd is named, look at its leader and its disk first.',
  'metrics.critical.etcdLatencyP99': 'etcd latency p99',
  'metrics.means.etcdLatencyP99':
    'How long a commit or a write to the log lasts in the slowest hundredth. Every write of the cluster waits for it.',
  'metrics.todo.etcdLatencyP99':
    'Give etcd a disk of its own with fast fsync, and keep heavy work away from its host. Defragmenting helps when the database is much larger than its contents.',
  'metrics.critical.etcdLeaderChanges': 'etcd leader changes',
  'metrics.means.etcdLeaderChanges':
    'How often another member took the lead in the last minutes. Writes stop during each election.',
  'metrics.todo.etcdLeaderChanges':
    'One change after a restart is normal. More of them come from slow disks, a busy host or a network that loses packets: compare fsync and round trips of the members.',
  'metrics.critical.etcdDbSize': 'etcd database',
  'metrics.means.etcdDbSize':
    'The size of the database on disk. At its quota etcd raises an alarm and takes no more writes.',
  'metrics.todo.etcdDbSize':
    'Compact and defragment the members, then look for what grows: events, or custom resources that nobody deletes.',
  'metrics.critical.unschedulablePods': 'Unschedulable pods',
  'metrics.means.unschedulablePods':
    'Pods for which the scheduler has looked at every node and found none. They wait until something changes.',
  'metrics.todo.unschedulablePods':
    'Open the scheduler X-ray of such a pod: it shows for each node which rule refused it. Often a request is larger than any node, or a taint is not tolerated.',
  'metrics.critical.pendingPods': 'Pending pods',
  'metrics.means.pendingPods':
    'Pods that wait for the scheduler in one of its queues. A short peak after a rollout is normal, a growing queue is not.',
  'metrics.todo.pendingPods':
    'Check that a scheduler leads (Leases) and that its latency is as usual. When both are well, nodes are full.',
  'metrics.critical.queueDepth': 'Controller queue',
  'metrics.means.queueDepth':
    'Objects that wait for a controller. A queue that does not drain means that the cluster no longer follows what was declared.',
  'metrics.todo.queueDepth':
    'See which controller it is. Refused or slow requests hold it up: look at the requests of `kube-controller-manager` under Requests.',
  'metrics.critical.queueTimeP99': 'Queue time p99',
  'metrics.means.queueTimeP99':
    'How long an object waits before its controller looks at it, in the slowest hundredth.',
  'metrics.todo.queueTimeP99':
    'Compare with the latency of the API: when that is well, the controller has too much to do or is held up by its own rate limit.',
  'metrics.critical.apiInFlight': 'API load',
  'metrics.means.apiInFlight':
    'The share of the requests that an API server may work on at once. At 100 % it answers 429 and clients have to wait.',
  'metrics.todo.apiInFlight':
    'Find the user with the most requests under Requests. Another API server, or a priority level of its own for that user, gives the others room.',

  'metrics.chart.apiRequests': 'Requests, per second',
  'metrics.chart.apiLatencyP99': 'Latency p99',
  'metrics.chart.apiErrors': 'Errors (5xx), share',
  'metrics.chart.apiInFlight': 'Requests in flight',
  'metrics.chart.apiWatchers': 'Watches',
  'metrics.chart.apiServerCpu': 'CPU, cores',
  'metrics.chart.apiServerMemory': 'Memory',
  'metrics.chart.etcdPuts': 'Writes, per second',
  'metrics.chart.etcdCommitP99': 'Backend commit p99',
  'metrics.chart.etcdFsyncP99': 'WAL fsync p99',
  'metrics.chart.etcdPeerRoundTripP99': 'Peer round trip p99',
  'metrics.chart.etcdLeaderChanges': 'Leader changes seen',
  'metrics.chart.etcdDbBytes': 'Database',
  'metrics.chart.etcdProposalsPending': 'Proposals pending',
  'metrics.chart.schedulerAttempts': 'Scheduling attempts, per second',
  'metrics.chart.schedulerLatencyP99': 'Scheduling latency p99',
  'metrics.chart.schedulerPending': 'Pending pods, by queue',
  'metrics.chart.queueDepth': 'Queue depth',
  'metrics.chart.queueAdds': 'Additions, per second',
  'metrics.chart.queueTimeP99': 'Time in queue p99',
  'metrics.chart.nodePods': 'Pods, by node',
  'metrics.chart.nodeCpu': 'CPU, cores, by node',
  'metrics.chart.nodeMemory': 'Memory, by node',
  'metrics.chart.none': 'No sample in this range',
  'metrics.chart.more': { one: '{count} more in the table', other: '{count} more in the table' },
  'metrics.chart.spoken': '{label}: {values}',
  'metrics.asTable': 'Show as a table',
  'metrics.asChart': 'Show as a chart',
  'metrics.table.name': 'Line',
  'metrics.table.last': 'Last',
  'metrics.table.lowest': 'Lowest',
  'metrics.table.mean': 'Mean',
  'metrics.table.highest': 'Highest',

  'metrics.targets': 'Targets',
  'metrics.targets.up': { one: '{up} of {count} answers', other: '{up} of {count} answer' },
  'metrics.target.component': 'Component',
  'metrics.target.instance': 'Instance',
  'metrics.target.state': 'State',
  'metrics.target.last': 'Last sample',
  'metrics.target.message': 'What it said',
  'metrics.target.up': 'Answers',
  'metrics.target.down': 'Silent',
  'metrics.target.never': 'never',
} as const;
