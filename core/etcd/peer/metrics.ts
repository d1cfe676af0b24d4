import {
  exponentialBuckets,
  type Counter,
  type Gauge,
  type Histogram,
  type Registry,
} from '../../base/metrics/index.ts';
import type { MemberId } from '../../raft/types.ts';

/** Instruments of the way to and from one peer. */
export interface PeerInstruments {
  readonly sentBytes: Counter;
  readonly receivedBytes: Counter;
  readonly sentFailures: Counter;
  readonly receivedFailures: Counter;
  readonly roundTripSeconds: Histogram;
  readonly active: Gauge;
  readonly disconnects: Counter;
  readonly snapshotsSent: Counter;
  readonly snapshotSendFailures: Counter;
  readonly snapshotsReceived: Counter;
  readonly snapshotReceiveFailures: Counter;
  readonly snapshotsSending: Gauge;
  readonly snapshotSendSeconds: Histogram;
  readonly snapshotsReceiving: Gauge;
  readonly snapshotReceiveSeconds: Histogram;
}

export interface PeerMetrics {
  of(peer: MemberId): PeerInstruments;
}

const PEERS_MAX = 64;

/** Under etcd's names, with its labels. */
export const peerMetrics = (registry: Registry, local: MemberId): PeerMetrics => {
  const counter = <const L extends readonly string[]>(name: string, help: string, labels: L) =>
    registry.counterFamily({ name: `etcd_network_${name}`, help, labels, labelSetsMax: PEERS_MAX });
  const sentBytes = counter('peer_sent_bytes_total', 'The total number of bytes sent to peers.', ['To']);
  const receivedBytes = counter(
    'peer_received_bytes_total',
    'The total number of bytes received from peers.',
    ['From'],
  );
  const sentFailures = counter('peer_sent_failures_total', 'The total number of send failures from peers.', [
    'To',
  ]);
  const receivedFailures = counter(
    'peer_received_failures_total',
    'The total number of receive failures from peers.',
    ['From'],
  );
  const disconnects = counter('disconnected_peers_total', 'The total number of disconnected peers.', [
    'Local',
    'Remote',
  ]);
  const snapshotsSent = counter('snapshot_send_success', 'Total number of successful snapshot sends', ['To']);
  const snapshotSendFailures = counter('snapshot_send_failures', 'Total number of snapshot send failures', [
    'To',
  ]);
  const snapshotsReceived = counter(
    'snapshot_receive_success',
    'Total number of successful snapshot receives',
    ['From'],
  );
  const snapshotReceiveFailures = counter(
    'snapshot_receive_failures',
    'Total number of snapshot receive failures',
    ['From'],
  );
  const active = registry.gaugeFamily({
    name: 'etcd_network_active_peers',
    help: 'The current number of active peer connections.',
    labels: ['Local', 'Remote'],
    labelSetsMax: PEERS_MAX,
  });
  const roundTripSeconds = registry.histogramFamily({
    name: 'etcd_network_peer_round_trip_time_seconds',
    help: 'Round-Trip-Time histogram between peers',
    labels: ['To'],
    buckets: exponentialBuckets(0.0001, 2, 16),
    labelSetsMax: PEERS_MAX,
  });
  const inflight = <const L extends readonly string[]>(name: string, help: string, labels: L) =>
    registry.gaugeFamily({ name: `etcd_network_snapshot_${name}`, help, labels, labelSetsMax: PEERS_MAX });
  const duration = <const L extends readonly string[]>(name: string, help: string, labels: L) =>
    registry.histogramFamily({
      name: `etcd_network_snapshot_${name}`,
      help,
      labels,
      buckets: exponentialBuckets(0.1, 2, 10),
      labelSetsMax: PEERS_MAX,
    });
  const sending = inflight('send_inflights_total', 'Total number of inflight snapshot sends', ['To']);
  const sendSeconds = duration(
    'send_total_duration_seconds',
    'Total latency distributions of v3 snapshot sends',
    ['To'],
  );
  const receiving = inflight('receive_inflights_total', 'Total number of inflight snapshot receives', [
    'From',
  ]);
  const receiveSeconds = duration(
    'receive_total_duration_seconds',
    'Total latency distributions of v3 snapshot receives',
    ['From'],
  );
  const localText = local.toString(16);
  return {
    of(peer) {
      const text = peer.toString(16);
      return {
        sentBytes: sentBytes.labels(text),
        receivedBytes: receivedBytes.labels(text),
        sentFailures: sentFailures.labels(text),
        receivedFailures: receivedFailures.labels(text),
        roundTripSeconds: roundTripSeconds.labels(text),
        active: active.labels(localText, text),
        disconnects: disconnects.labels(localText, text),
        snapshotsSent: snapshotsSent.labels(text),
        snapshotSendFailures: snapshotSendFailures.labels(text),
        snapshotsReceived: snapshotsReceived.labels(text),
        snapshotReceiveFailures: snapshotReceiveFailures.labels(text),
        snapshotsSending: sending.labels(text),
        snapshotSendSeconds: sendSeconds.labels(text),
        snapshotsReceiving: receiving.labels(text),
        snapshotReceiveSeconds: receiveSeconds.labels(text),
      };
    },
  };
};
