import type { Registry } from '../../base/metrics/index.ts';
import type { MethodName, RpcObserver } from '../rpc/index.ts';

const MS_PER_SECOND = 1000;
/** Of one or two digits each: enough for every client that there is, and few enough to count each. */
const CLIENT_VERSION = /^3\.\d$/;

const isWatch = ({ service }: MethodName): boolean => service === 'etcdserverpb.Watch';

/** grpc_server_* as go-grpc-prometheus counts them. */
export const rpcObserver = (
  registry: Registry,
  options: { readonly withDurations: boolean },
): RpcObserver => {
  const labels = ['grpc_type', 'grpc_service', 'grpc_method'] as const;
  const counter = (name: string, help: string) => registry.counterFamily({ name, help, labels });
  const started = counter('grpc_server_started_total', 'Total number of RPCs started on the server.');
  const received = counter(
    'grpc_server_msg_received_total',
    'Total number of RPC stream messages received on the server.',
  );
  const sent = counter(
    'grpc_server_msg_sent_total',
    'Total number of gRPC stream messages sent by the server.',
  );
  const handled = registry.counterFamily({
    name: 'grpc_server_handled_total',
    help: 'Total number of RPCs completed on the server, regardless of success or failure.',
    labels: [...labels, 'grpc_code'] as const,
  });
  const durations = options.withDurations
    ? registry.histogramFamily({
        name: 'grpc_server_handling_seconds',
        help: 'Histogram of response latency (seconds) of gRPC that had been application-level handled by the server.',
        labels,
        buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      })
    : undefined;
  /** Looked up once a method, not once a call. */
  const ofMethod = new Map<MethodName, ReturnType<typeof instrumentsOf>>();
  const instrumentsOf = ({ type, service, method }: MethodName) => ({
    started: started.labels(type, service, method),
    received: received.labels(type, service, method),
    sent: sent.labels(type, service, method),
    duration: durations?.labels(type, service, method),
    ok: handled.labels(type, service, method, 'OK'),
  });
  const of = (method: MethodName) => {
    const known = ofMethod.get(method);
    if (known !== undefined) return known;
    const made = instrumentsOf(method);
    ofMethod.set(method, made);
    return made;
  };
  const receivedBytes = registry.counter({
    name: 'etcd_network_client_grpc_received_bytes_total',
    help: 'The total number of bytes received from grpc clients.',
  });
  const sentBytes = registry.counter({
    name: 'etcd_network_client_grpc_sent_bytes_total',
    help: 'The total number of bytes sent to grpc clients.',
  });
  const requests = registry.counterFamily({
    name: 'etcd_server_client_requests_total',
    help: 'The total number of client requests per client version.',
    labels: ['type', 'client_api_version'] as const,
  });
  const watchStreams = registry.gauge({
    name: 'etcd_debugging_mvcc_watch_stream_total',
    help: 'Total number of watch streams.',
  });
  const streamFailures = registry.counterFamily({
    name: 'etcd_network_server_stream_failures_total',
    help: 'The total number of stream failures from the local server.',
    labels: ['Type', 'API'] as const,
  });
  return {
    started(method, clientVersion = 'unknown') {
      of(method).started.inc();
      // A client may say what it likes, and each text is a series of its own.
      const version = CLIENT_VERSION.test(clientVersion) ? clientVersion : 'unknown';
      requests.labels(method.type === 'unary' ? 'unary' : 'stream', version).inc();
      if (isWatch(method)) watchStreams.add(1);
    },
    messageReceived(method, bytes) {
      of(method).received.inc();
      receivedBytes.inc(bytes);
    },
    messageSent(method, bytes) {
      of(method).sent.inc();
      sentBytes.inc(bytes);
    },
    handled(method, code, durationMs) {
      const instruments = of(method);
      if (code === 'OK') instruments.ok.inc();
      else handled.labels(method.type, method.service, method.method, code).inc();
      instruments.duration?.observe(durationMs / MS_PER_SECOND);
      if (isWatch(method)) watchStreams.add(-1);
      const isBroken = method.type === 'bidi_stream' && code !== 'OK' && code !== 'Canceled';
      if (isBroken) streamFailures.labels('receive', isWatch(method) ? 'watch' : 'lease-keepalive').inc();
    },
  };
};
