/** Why the host refused a call or could not answer it: what failed, and what to do. */
export const failures = {
  'failure.readOnly': '{cluster} is read-only in this console; allow changes first',
  'failure.noCluster': 'cluster {id} not found',
  'failure.busy': '"{command}" is in progress; wait until it finishes',
  'failure.paused': '"{command}" is paused; wait until it finishes',
  'failure.hostedElsewhere': 'another process hosts {cluster}; stop it there first',
  'failure.stopping': '{cluster} is stopping; start it when it has stopped',
  'failure.servedHere':
    '{cluster} is hosted by the command that serves this console; interrupt that command to stop it',
  'failure.notChosen.kubeconfig':
    'the kubeconfig {path} was not chosen by a person; choose it in the file dialog',
  'failure.notChosen.snapshot':
    'the snapshot {path} was not chosen by a person; choose it in the file dialog',
  'failure.typePath.kubeconfig': 'type the path of the kubeconfig on the machine that serves the console',
  'failure.typePath.snapshot': 'type the path of the snapshot on the machine that serves the console',
  'failure.snapshotNotChosen':
    '{file} is not in {folder} and was not chosen by a person; choose the snapshot file first',
  'failure.noneChosen': 'no file was chosen',
  'failure.closed': 'the connection is closed',
  'failure.notConnected': 'the console is not connected to its host',
  'failure.unsupported': 'this host does not support {name}',
  'failure.noHosting': 'this host does not run clusters',
  'failure.httpsOnly': 'only https links can be opened',
  'failure.notHosted': 'cluster {id} is not hosted by this console',
  'failure.notRunning': 'the cluster is not running; start it first',
  'failure.clustersMax': 'limit of {max} clusters reached; delete one first',
  'failure.kubeconfigsMax': 'limit of {max} kubeconfig files reached; remove one first',
  'failure.operationsMax': '{max} operations are in progress; wait for one to finish',
  'failure.forwardsMax': 'limit of {max} forwarded ports reached; close one first',
  'failure.connectionsMax': 'limit of {max} connections reached; close some first',
  'failure.terminalsMax': 'limit of {max} open terminals reached; close one first',
  'failure.runs': '{cluster} is running; stop it before you remove it',
  'failure.shuttingDown': 'the console is shutting down',
  'failure.nameTaken': 'a cluster named {name} already exists; choose another name',
  'failure.directoryTaken': '{directory} already contains a cluster; choose another directory',
  'failure.directoryNotEmpty': '{directory} is not empty; choose an empty or new directory',
  'failure.directoryUnusable': 'cannot use {directory}: {why}; choose another directory',
  'failure.isFile': 'it is a file',
  'failure.permissionDenied': 'permission denied',
  'failure.notFullPath': '"{path}" is not a full path; start it with / or ~/',
  'failure.noNetworkLeft': 'no free loopback network for another cluster; delete a cluster first',
  'failure.noOperation': 'operation {id} not found',
  'failure.operationOver': 'the operation has already finished',
  'failure.cannotPause': 'this operation cannot be paused',
  'failure.ownOnly.etcd': 'etcd members are only accessible for clusters hosted by this console',
  'failure.ownOnly.inspection':
    'hashes, locks and users of etcd are only available for clusters hosted by this console',
  'failure.ownOnly.timeline': 'timelines are only recorded for clusters hosted by this console',
  'failure.ownOnly.audit': 'audit logs are only available for clusters hosted by this console',
  'failure.ownOnly.encryption': 'encryption keys are only available for clusters hosted by this console',
  'failure.ownOnly.certificates': 'certificate files are only available for clusters hosted by this console',
  'failure.ownOnly.checks': 'production checks are only available for clusters hosted by this console',
  'failure.ownOnly.scheduling': 'scheduling decisions are only available for clusters hosted by this console',
  'failure.metricsRange': 'a metrics query must end after it starts',
  'failure.noTraces': 'no API server returned its {what}: {why}',
  'failure.noMetrics': 'this API server exposes no metrics',
  'failure.tracesUnsupported': 'this API server keeps no request traces; only API servers of Pilothouse do',
  'failure.noSchedulerLeads': 'no scheduler is leader; retry in a few seconds',
  'failure.notYaml': 'not valid YAML or JSON: {why}',
  'failure.podRequired': 'a Pod with a spec is required',
  'failure.cannotOpen': 'cannot open {path}: {why}',
  'failure.pluginChanged': 'the command line in {path} has changed since it was shown; review it again',
  'failure.consentRequired':
    '{path} runs {command} to get credentials for {cluster}; review the command line and allow it first',
  'failure.signInRequired': 'sign in to {cluster} at {issuer} first (top right)',
  'failure.noSignIn': 'users of {cluster} do not sign in through a browser',
  'failure.drain': 'unable to drain node "{node}" due to error: {why}. It stays cordoned.',
  'failure.portInUse':
    'port {port} is already in use on this machine; choose another, or 0 for any free port',
  'failure.cannotListen': 'unable to listen on port {port}: {why}',
  'failure.podNotRunning': 'unable to forward port because pod is not running. Current status={phase}',
  'failure.podDeleted': 'pod {pod} was deleted',
  'failure.podTerminated': 'pod {pod} has terminated: {phase}',
  'failure.notGroupVersion': '{path} is not a group version such as api/v1 or apis/apps/v1',
  'failure.noSchemas': 'the server publishes no schemas for {path}',
  'failure.notApiPath': '{path} is not an API path',
  'failure.isStream': '{path} opens a stream and cannot be used in a plain request',
  'failure.tooLarge': 'the response to {request} is too large for the console',
  'failure.terminalOpen': 'this terminal is already open',
  'failure.terminalClosed': 'this terminal is not open',
  'failure.connectionClosed': 'the connection was closed',
  'failure.userExpired.local':
    'the client certificate of {user} in {path} expired on {date}; renew it on the Certificates page',
  'failure.userExpired.kubeconfig':
    'the client certificate of {user} in {path} expired on {date}; get a new kubeconfig from the cluster administrator and open it',
  'failure.unreached.ConnectionRefused':
    'connection refused by the API server; start the cluster or one of its control planes ({detail})',
  'failure.unreached.ConnectionLost':
    'the connection to the API server was lost; retry, and check its control planes if the problem persists ({detail})',
  'failure.unreached.NameNotResolved':
    'cannot resolve the name of the API server; check the address in the kubeconfig ({detail})',
  'failure.unreached.TlsFailed':
    'TLS verification failed; check the certificates of the API server and of the kubeconfig ({detail})',
  'failure.unreached.ProxyFailed':
    'the proxy rejected the connection to the API server; check the proxy in the kubeconfig ({detail})',
  'failure.unreached.TimedOut':
    'the API server did not respond in time; check whether its host is paused or isolated ({detail})',
  'failure.unreached.Closed': 'the connection was closed by this console; retry ({detail})',
  'failure.serverExpired':
    'the certificate of the API server, or of the CA that signed it, has expired; renew it (pilothouse certs renew all or kubeadm certs renew all) ({detail})',
  'failure.clientExpired':
    'the client certificate in the kubeconfig has expired; get a new kubeconfig and open it again ({detail})',
  'failure.unauthorized':
    'the API server rejected the credentials of this kubeconfig ({detail}); sign in again, or get a new kubeconfig from the cluster administrator and open it',
} as const;
