export const metrics = {
  'metrics.title': 'Metrics',
  'metrics.of': '{section} metrics',
  'metrics.keywords': 'metrics charts prometheus latency alerts dashboard',
  'metrics.lead.none': 'No samples of the key metrics. Targets shows the reason.',
  'metrics.lead.ok': {
    one: '{count} key metric is within its limit.',
    other: '{count} key metrics are within their limits.',
  },
  'metrics.lead.firing': {
    one: '{count} key metric is above its limit.',
    other: '{count} key metrics are above their limits.',
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
  'metrics.reading': 'Loading metrics',
  'metrics.failed': 'Cannot read metrics',
  'metrics.refused': 'No metrics are collected for this cluster',
  'metrics.refused.shell': 'Read the metrics of an API server:',

  'metrics.critical': 'Key metrics',
  'metrics.state.ok': 'Within limit',
  'metrics.state.firing': 'Above limit',
  'metrics.state.unknown': 'No samples yet',
  'metrics.limit': 'limit {value}',
  'metrics.limit.above': 'limit {value}, off the scale',
  'metrics.limit.none': 'expected 0',
  'metrics.now': 'Current',
  'metrics.threshold': 'Limit',
  'metrics.since': 'Firing since',
  'metrics.subject': 'on {name}',
  'metrics.means': 'What it means',
  'metrics.todo': 'What to do',
  'metrics.toChart': 'Show chart',

  'metrics.critical.apiLatencyP99': 'API latency p99',
  'metrics.means.apiLatencyP99':
    'One request in a hundred takes longer than this. Watches and streams are excluded. Slow responses delay every controller and every `kubectl` command.',
  'metrics.todo.apiLatencyP99':
    'Check the slowest requests under Requests. Time spent in etcd points to its disk, time in admission to a webhook, and large lists to a client that does not paginate.',
  'metrics.critical.apiErrors': 'API errors',
  'metrics.means.apiErrors':
    'Share of requests that return a 5xx status code. Clients retry, so a few go unnoticed; many are an outage.',
  'metrics.todo.apiErrors':
    'Under Requests, filter for failed requests and check the failing stage. If it is etcd, check its leader and its disk first.',
  'metrics.critical.etcdLatencyP99': 'etcd latency p99',
  'metrics.means.etcdLatencyP99':
    '99th percentile of backend commits and WAL fsyncs. Every write in the cluster waits for it.',
  'metrics.todo.etcdLatencyP99':
    'Give etcd a dedicated disk with fast fsync, and keep other load off its host. Defragment if the database is much larger than the data in use.',
  'metrics.critical.etcdLeaderChanges': 'etcd leader changes',
  'metrics.means.etcdLeaderChanges':
    'How often the leader changed in the last minutes. Writes pause during each election.',
  'metrics.todo.etcdLeaderChanges':
    'One change after a restart is normal. More point to a slow disk, a busy host or packet loss. Compare fsync and peer round-trip times of the members.',
  'metrics.critical.etcdDbSize': 'etcd database',
  'metrics.means.etcdDbSize':
    'Database size on disk. When it reaches the quota, etcd raises a NOSPACE alarm and rejects writes.',
  'metrics.todo.etcdDbSize':
    'Compact and defragment the members, then find what grows: often events, or custom resources that are never deleted.',
  'metrics.critical.repeatedFailures': 'Repeated failing requests',
  'metrics.means.repeatedFailures':
    'One client sends the same change again and again and gets the same error. It is stuck in an endless loop that costs the API server time.',
  'metrics.todo.repeatedFailures':
    'Filter the requests by this user to see what it tries and the error it gets. Restart the client, or fix the object that it fails on.',
  'metrics.critical.unschedulablePods': 'Unschedulable pods',
  'metrics.means.unschedulablePods':
    'Pods that the scheduler tried to place but found no feasible node for. They wait until the cluster changes.',
  'metrics.todo.unschedulablePods':
    'Open such a pod under Scheduler: for each node it shows which plugin filtered it out. Common causes are requests larger than any node and taints that are not tolerated.',
  'metrics.critical.pendingPods': 'Pending pods',
  'metrics.means.pendingPods':
    'Pods in a queue of the scheduler. A short peak after a rollout is normal; a growing queue is not.',
  'metrics.todo.pendingPods':
    'Check under Leases that a scheduler is leader, and check its latency. If both are normal, the nodes are full.',
  'metrics.critical.queueDepth': 'Controller queue depth',
  'metrics.means.queueDepth':
    'Objects waiting for a controller. If a queue does not drain, the cluster no longer converges to the desired state.',
  'metrics.todo.queueDepth':
    'Find out which controller it is. Rejected or slow requests hold it up: check the requests of `kube-controller-manager` under Requests.',
  'metrics.critical.queueTimeP99': 'Queue time p99',
  'metrics.means.queueTimeP99':
    '99th percentile of the time an object waits before its controller reconciles it.',
  'metrics.todo.queueTimeP99':
    'Compare with API latency. If that is normal, the controller is overloaded or limited by its own rate limit.',
  'metrics.critical.apiInFlight': 'API load',
  'metrics.means.apiInFlight':
    'Share of the in-flight request limit in use. At 100 % the API server returns 429 and clients must wait.',
  'metrics.todo.apiInFlight':
    'Find the user with the most requests under Requests. Add an API server, or give that user a separate priority level.',

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
  'metrics.chart.queueAdds': 'Adds, per second',
  'metrics.chart.queueTimeP99': 'Time in queue p99',
  'metrics.chart.nodePods': 'Pods, by node',
  'metrics.chart.nodeCpu': 'CPU, cores, by node',
  'metrics.chart.nodeMemory': 'Memory, by node',
  'metrics.chart.none': 'No samples in this range',
  'metrics.chart.more': { one: '{count} more in the table', other: '{count} more in the table' },
  'metrics.chart.spoken': '{label}: {values}',
  'metrics.asTable': 'Show as table',
  'metrics.asChart': 'Show as chart',
  'metrics.table.name': 'Series',
  'metrics.table.last': 'Last',
  'metrics.table.lowest': 'Min',
  'metrics.table.mean': 'Mean',
  'metrics.table.highest': 'Max',

  'metrics.targets': 'Targets',
  'metrics.targets.up': { one: '{up} of {count} up', other: '{up} of {count} up' },
  'metrics.target.component': 'Component',
  'metrics.target.instance': 'Instance',
  'metrics.target.state': 'State',
  'metrics.target.last': 'Last sample',
  'metrics.target.message': 'Message',
  'metrics.target.up': 'Up',
  'metrics.target.down': 'Down',
  'metrics.target.never': 'never',
} as const;
