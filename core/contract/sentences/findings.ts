/** What the checks found, and what to do about it; grouped by the id of the check. */
export const findings = {
  'found.unmeasured': 'check failed to run: {why}',
  'advice.unmeasured': 'start the cluster, or run pilothouse status to see what is down',
  'found.noResult': 'no result within {seconds} s',
  'found.more': '{names} and {count} more',
  'found.componentOn': '{component} on {host}',

  'found.etcdMembers.unreachable': {
    one: 'unreachable: {names}, of {count} member',
    other: 'unreachable: {names}, of {count} members',
  },
  'found.etcdMembers.few': {
    one: '{count} member: no failure is tolerated',
    other: '{count} members: no failure is tolerated',
  },
  'found.etcdMembers.even': '{count} members tolerate no more failures than {fewer}',
  'found.etcdMembers.ok': '{count} members healthy; failure tolerance {tolerance}',
  'advice.recoverMember': 'recover the member',
  'advice.addMembers': 'add members until there are three or five',

  'found.diskLatency.external': 'etcd is external, and its metrics are not available here',
  'advice.diskLatency.external': 'monitor its WAL fsync there',
  'found.diskLatency.unknown': 'not enough fsyncs to measure',
  'advice.diskLatency.unknown': 'run the check again after some load',
  'found.diskLatency': '99th percentile of WAL fsync on {member} is {ms} ms',
  'advice.diskLatency': 'etcd needs {limit} ms or less; use a dedicated SSD',

  'found.etcdQuota.alarm': 'NOSPACE alarm: writes are rejected',
  'advice.etcdQuota.alarm': 'compact and defragment, or raise --quota-backend-bytes, then disarm the alarm',
  'found.etcdQuota.unknown': 'the storage quota is unknown',
  'found.etcdQuota': '{member} uses {used} of {quota} MiB',
  'advice.etcdQuota': 'compact and defragment, or raise --quota-backend-bytes',
  'advice.setFlag': 'set {flag}',

  'found.peerCertificates.external': 'etcd is external',
  'advice.peerCertificates.external': 'check there that peers use separate certificates',
  'found.peerCertificates.none': 'the member on {host} presents no certificate',
  'found.peerCertificates.open': 'the member on {host} accepts peers without a certificate',
  'found.peerCertificates.shared': 'same certificate for clients and peers on {hosts}',
  'advice.peerCertificates.shared': 'issue peer certificates',
  'found.peerCertificates.ok':
    'every member uses separate client and peer certificates and requires peer certificates',

  'found.compaction.off': 'automatic compaction is disabled',
  'found.compaction.unknown': 'API servers compact every {minutes} min; the compacted revision is unknown',
  'found.compaction':
    'compacted to revision {compacted} of {revision}; API servers compact every {minutes} min',
  'advice.compaction': 'find out why compaction does not keep up',

  'found.apiReplicas.balancer': '{balancer} is not responding',
  'advice.apiReplicas.balancer': 'check the load balancer with pilothouse status',
  'found.apiReplicas.down': 'the API server on {hosts} is not ready',
  'advice.apiReplicas.down': 'check its log',
  'found.apiReplicas.ok': '{count} API servers are ready behind {balancer}',
  'found.apiReplicas.single': 'single API server: restarting it causes an outage',
  'advice.apiReplicas.single': 'run three control planes',

  'found.encryptionAtRest.off': 'encryption at rest is not configured',
  'found.encryptionAtRest.on': 'configured',
  'found.encryptionAtRest.noSecret': 'no Secret stored yet',
  'found.encryptionAtRest.stored': 'a stored Secret begins with {head}',

  'found.auditLog.off': 'audit logging is not configured',
  'found.auditLog.silent': 'an audit log is configured, but nothing was written in the last day',
  'advice.auditLog.silent': 'check whether the audit policy matches any requests',
  'found.auditLog.ok': '{path} is being written',

  'found.requestLimits.none': 'an API server has no limit on in-flight requests',
  'advice.requestLimits.none': 'set --max-requests-inflight and --max-mutating-requests-inflight',
  'found.requestLimits.ok': {
    one: 'limits per API server: {reads} read-only, {writes} mutating; {count} request rejected so far',
    other: 'limits per API server: {reads} read-only, {writes} mutating; {count} requests rejected so far',
  },

  'found.admissionPlugins.off': 'disabled: {names}',
  'advice.admissionPlugins.off': 'remove them from --disable-admission-plugins',
  'found.admissionPlugins.nodes': 'kubelets can modify other nodes: NodeRestriction is disabled',
  'advice.admissionPlugins.nodes': 'add it to --enable-admission-plugins',
  'found.admissionPlugins.ok': '{names} have processed requests',
  'found.admissionPlugins.unseen': '{names} had no requests yet',

  'found.anonymousOff.open': 'anonymous users can list namespaces',
  'advice.anonymousOff.open': 'remove the role bindings of system:anonymous and system:unauthenticated',
  'found.anonymousOff.ok': 'requests without credentials are rejected with 401',
  'found.anonymousOff.denied':
    'requests without credentials are authenticated as system:anonymous and denied by RBAC (403)',
  'advice.anonymousOff.denied':
    'health probes use this; otherwise limit it to /livez, /readyz and /healthz in --authentication-config',

  'found.anonymousPaths.open': 'kube-apiserver on {host} serves {paths} to anonymous clients',
  'advice.anonymousPaths.open':
    'remove the role bindings of system:anonymous and system:unauthenticated, or limit anonymous access in --authentication-config',
  'found.anonymousPaths.version': 'anonymous clients can read /version',
  'advice.anonymousPaths.version':
    'limit anonymous access to /livez, /readyz and /healthz in --authentication-config',
  'found.anonymousPaths.ok': 'every API server rejects anonymous requests to {count} paths',

  'found.oidc.off': 'users authenticate with client certificates, which cannot be revoked',
  'advice.oidc.off': 'pilothouse harden apply --oidc-issuer-url URL --oidc-client-id ID',
  'found.oidc.ok': 'tokens from {issuer} are accepted',

  'found.nodeAndRbac.all': 'an API server allows all requests',
  'found.nodeAndRbac.modes': 'an API server has --authorization-mode={modes}',
  'advice.nodeAndRbac': 'set --authorization-mode=Node,RBAC on every API server',
  'found.nodeAndRbac.users': 'any authenticated user can read Secrets in kube-system',
  'advice.nodeAndRbac.users': 'check the role bindings of system:authenticated',
  'found.nodeAndRbac.nodes': 'a node can read Secrets that none of its pods use',
  'advice.nodeAndRbac.nodes': 'check the role bindings of system:nodes',
  'found.nodeAndRbac.ok':
    'an unprivileged user and a node without pods are both denied access to Secrets in kube-system',

  'found.noInsecurePort.open': '{place} is open',
  'found.noInsecurePort.http': '{place} accepts plain HTTP',
  'found.noInsecurePort.etcd': 'etcd on {place} accepts clients without a certificate',
  'found.noInsecurePort.kubelet': 'the kubelet on {node} serves its pods to anonymous clients',
  'found.noInsecurePort.ok':
    'insecure ports are closed; etcd and kubelets reject requests without credentials',
  'advice.noInsecurePort': 'close the port, or require client certificates',

  'found.profilingOff.ok': '/debug/pprof/ returns 404 on every component',
  'found.profilingOff.on': 'profiling is enabled on {components}',

  'found.controlPlaneTaints.none': 'no node is labelled as a control plane',
  'advice.controlPlaneTaints.none': 'label them {label}',
  'found.controlPlaneTaints.ok': '{nodes} have the taint {taint}',
  'found.controlPlaneTaints.open': 'not tainted: {nodes}',

  'found.staticPodRequests.none': 'no static pods found in the API',
  'advice.staticPodRequests.none': 'check whether kubelets can reach the API server',
  'found.staticPodRequests.ok': 'all {count} static pods request CPU',
  'found.staticPodRequests.without': 'no CPU request: {pods}',
  'advice.staticPodRequests.without': 'set resources.requests in their manifests',

  'found.certificateRotation.expired': '{name} has expired',
  'found.certificateRotation.stale': 'servers still present the old certificate: {names}',
  'advice.certificateRotation.stale': 'restart them if they do not reload it within a minute',
  'found.certificateRotation.soon': {
    one: '{name} expires in {count} day',
    other: '{name} expires in {count} days',
  },
  'found.certificateRotation.ok': {
    one: '{count} server presents the certificate on disk; the next to expire is {name}, in {days} days',
    other: '{count} servers present the certificate on disk; the next to expire is {name}, in {days} days',
  },

  'found.backups.none': 'no snapshots in {folder}',
  'advice.backups.none': 'enable scheduled snapshots, or run pilothouse snapshot save',
  'found.backups.old': {
    one: 'the latest snapshot is {count} day old',
    other: 'the latest snapshot is {count} days old',
  },
  'advice.backups.old': 'schedule a snapshot at least once a day',
  'found.backups.elsewhere': {
    one: '{count} snapshot in {folder}, less than a day old, on a different disk than etcd',
    other: '{count} snapshots in {folder}, the latest less than a day old, on a different disk than etcd',
  },
  'found.backups.sameDisk': {
    one: '{count} snapshot in {folder}, less than a day old, on the same disk as etcd',
    other: '{count} snapshots in {folder}, the latest less than a day old, on the same disk as etcd',
  },
  'found.backups.unscheduled': {
    one: '{count} snapshot, the latest less than a day old in {folder}, but none are scheduled',
    other: '{count} snapshots, the latest less than a day old in {folder}, but none are scheduled',
  },
  'advice.backups.elsewhere':
    'pilothouse harden apply --backup-directory DIR, with a directory on another disk or machine',

  'found.monitoring.down': 'no metrics from {targets}',
  'advice.monitoring.down': 'check whether it is running and why /metrics fails',
  'found.monitoring.ok': '{count} targets serve metrics, and the latest sample is less than a minute old',
  'found.monitoring.unrecorded': '{count} targets serve metrics, but they are not recorded',
  'advice.monitoring.unrecorded': 'run the cluster in the console, or scrape it with Prometheus',

  'found.controlSocket.pipe': 'only its owner can open the pipe',
  'advice.controlSocket.directory': 'remove that directory and restart the cluster',
  'found.controlSocket.none': 'no control socket is open',
  'found.controlSocket.ok': 'only their owner can access {socket} and its directory',
  'found.controlSocket.kind': '{path} is not a socket',
  'found.file.owner': '{path} belongs to user {user}',
  'found.file.mode': '{path} has mode {mode}',
  'advice.controlSocket.modes': 'chmod 600 {socket}, and chmod 700 its directory',

  'found.noExposure.keys': "etcd's keys are served to strangers on {places}",
  'found.noExposure.key.plain': '{place} in plain text',
  'found.noExposure.key.tls': '{place} over TLS without a client certificate',
  'found.noExposure.beyond': 'reachable from other machines: {places}',
  'found.noExposure.foreign': 'a process of another program listens on {places}',
  'found.noExposure.undeclared': 'no component or object declares {places}',
  'advice.noExposure':
    'stop the process that listens there, or remove the flag that opens the port from the manifest',
  'found.noExposure.ok': {
    one: "{count} port probed for etcd's keys without credentials, none serves them; nothing else listens, and nothing beyond loopback",
    other:
      "{count} ports probed for etcd's keys without credentials, none serves them; nothing else listens, and nothing beyond loopback",
  },
  'found.noExposure.partly': {
    one: "{count} port probed for etcd's keys without credentials, none serves them; this system does not list open ports",
    other:
      "{count} ports probed for etcd's keys without credentials, none serves them; this system does not list open ports",
  },

  'found.fileModes.inherited': 'the directory inherits the access control list of its user',
  'found.fileModes.ok': 'no other user can read files in {folder}',
  'advice.fileModes': 'chmod -R go= {folder}, and chown files of other users',

  'found.kubeletAccess.anonymous': 'the kubelet on {node} answers {paths} without credentials',
  'found.kubeletAccess.unauthorized':
    'the kubelet on {node} answers {paths} to a certificate without permission on nodes',
  'found.kubeletAccess.ok':
    '{count} kubelets reject requests without credentials (401) and without permission (403)',
  'advice.kubeletAccess':
    'set authentication.anonymous.enabled: false and authorization.mode: Webhook for the kubelet',

  'found.nodeIdentity.user': 'the kubelet on {node} authenticates as {user}, not as {expected}',
  'found.nodeIdentity.secrets': '{user} can list the Secrets in kube-system',
  'found.nodeIdentity.bound': 'ClusterRoleBinding {binding} grants system:node to {subject}',
  'found.nodeIdentity.failed': 'the kubelet on {node}: {why}',
  'advice.nodeIdentity.bound':
    'delete the binding; the Node authorizer already grants nodes the access they need',
  'advice.nodeIdentity': 'restart the cluster: pilothouse up issues each node its own certificate',
  'found.nodeIdentity.ok': {
    one: '{count} node has a certificate of its own and cannot read Secrets of other nodes',
    other: '{count} nodes have separate certificates; the checked nodes cannot read Secrets of other nodes',
  },

  'found.tlsSuites.weak': '{server} ({place}) accepts {suites}',
  'found.tlsSuites.balancer': 'the load balancer',
  'found.tlsSuites.kubelet': 'the kubelet on {node}',
  'advice.tlsSuites':
    'remove --tls-cipher-suites and --cipher-suites, or list only suites with ECDHE and AES-GCM or ChaCha20-Poly1305',
  'found.tlsSuites.silent': 'no server of the cluster is responding',
  'found.tlsSuites.ok': '{count} ports reject TLS 1.0, TLS 1.1 and weak cipher suites',

  'found.unenforcedObjects.ok': 'no objects of kinds that this cluster does not enforce',
  'found.unenforcedObjects.some': 'stored but not enforced: {objects}',
  'advice.unenforcedObjects': 'do not rely on them; delete them, or enforce them by other means',

  'found.hosts.host': 'host {host} is {phase}',
  'found.hosts.component': '{component} on {host} is {phase}',
  'found.hosts.ok': 'all hosts and components are ready',
  'advice.hosts': 'recover it first',
  'found.etcd.member': '{member}: {why}',
  'found.etcd.ok': { one: '{count} member is healthy', other: '{count} members are healthy' },
  'advice.etcd': 'all etcd members must be healthy before an upgrade',
  'advice.etcd.quorum': 'restore quorum first',
  'found.skew.ok': 'kubelets are within {minors} minor versions of {target}',
  'found.skew.node': '{node} runs {version}',
  'advice.skew': 'kubelets may be up to {minors} minor versions older than {target}, but not newer',
  'found.nodes.ok': { one: '{count} node is Ready', other: '{count} nodes are Ready' },
  'found.nodes.notReady': 'not Ready: {nodes}',
  'advice.nodes': 'check them with kubectl describe node',
  'found.budgets.ok': 'all budgets allow disruptions',
  'found.budgets.shut': '{budget} allows no disruptions',
  'advice.budgets': 'draining waits for these budgets',
  'found.certificates.ok': 'none expire within {days} days',
  'found.certificates.soon': 'expire within {days} days: {names}',
} as const;
