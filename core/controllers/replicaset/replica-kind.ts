import type { LabelSelector } from '../../api/selector/index.ts';
import { selectorFromObject, selectorFromSet } from '../../api/selector/index.ts';
import type { V1PodTemplateSpec, V1ReplicaSetStatus } from '../../api/schema/index.ts';
import type { ObjectMeta } from '../../api/meta/object-meta.ts';
import {
  REPLICA_SET,
  REPLICATION_CONTROLLER,
  type Kind,
  type ReplicaSet,
  type ReplicationController,
  type Stored,
} from '../../client/index.ts';

/** What ReplicaSets and ReplicationControllers have in common. */
export type ReplicaOwner = {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec?: { minReadySeconds?: number; replicas?: number; template?: V1PodTemplateSpec };
  status?: V1ReplicaSetStatus;
};

/** The two kinds differ in the form of their selector and in what their status can say. */
export interface ReplicaKind {
  readonly kind: Kind<ReplicaOwner>;
  readonly queueName: string;
  readonly reportsTerminating: boolean;
  selectorOf(owner: Stored<ReplicaOwner>): LabelSelector;
}

export const REPLICA_SETS: ReplicaKind = {
  kind: REPLICA_SET as Kind<ReplicaOwner>,
  queueName: 'replicaset',
  reportsTerminating: true,
  selectorOf: (owner) => selectorFromObject((owner as ReplicaSet).spec?.selector),
};

export const REPLICATION_CONTROLLERS: ReplicaKind = {
  kind: REPLICATION_CONTROLLER as Kind<ReplicaOwner>,
  queueName: 'replicationmanager',
  reportsTerminating: false,
  selectorOf: (owner) => selectorFromSet((owner as ReplicationController).spec?.selector),
};
