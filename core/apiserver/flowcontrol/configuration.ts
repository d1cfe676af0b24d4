import type { KubernetesObject } from '../../api/meta/index.ts';

export interface Subject {
  readonly kind: string;
  readonly user?: { readonly name: string };
  readonly group?: { readonly name: string };
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly clusterScope?: boolean;
  readonly namespaces?: readonly string[];
}

export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export interface PolicyRules {
  readonly subjects: readonly Subject[];
  readonly resourceRules?: readonly ResourceRule[];
  readonly nonResourceRules?: readonly NonResourceRule[];
}

/** A FlowSchema: which requests are of one kind, and what tells the flows among them apart. */
export interface FlowSchema {
  readonly name: string;
  readonly uid: string;
  readonly level: string;
  readonly precedence: number;
  readonly distinguisher: 'ByUser' | 'ByNamespace' | undefined;
  readonly rules: readonly PolicyRules[];
}

/** A PriorityLevelConfiguration. */
export interface PriorityLevel {
  readonly name: string;
  readonly uid: string;
  readonly isExempt: boolean;
  readonly shares: number;
  readonly lendablePercent: number;
  /** Undefined: as much as others lend. */
  readonly borrowingLimitPercent: number | undefined;
  /** Undefined: what does not fit is rejected. */
  readonly queuing:
    { readonly queues: number; readonly handSize: number; readonly lengthMax: number } | undefined;
}

const DEFAULT_SHARES = 30;
const DEFAULT_PRECEDENCE = 1000;

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};
const numberOf = (value: unknown, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;

/** Stored objects were validated when they were written. */
export const flowSchemaOf = ({
  metadata,
  spec,
}: KubernetesObject & { readonly spec?: unknown }): FlowSchema => {
  const fields = fieldsOf(spec);
  const type = fieldsOf(fields['distinguisherMethod'])['type'];
  return {
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    level: String(fieldsOf(fields['priorityLevelConfiguration'])['name'] ?? ''),
    precedence: numberOf(fields['matchingPrecedence'], DEFAULT_PRECEDENCE),
    distinguisher: type === 'ByUser' || type === 'ByNamespace' ? type : undefined,
    rules: (fields['rules'] ?? []) as readonly PolicyRules[],
  };
};

export const priorityLevelOf = ({
  metadata,
  spec,
}: KubernetesObject & { readonly spec?: unknown }): PriorityLevel => {
  const fields = fieldsOf(spec);
  const isExempt = fields['type'] === 'Exempt';
  const limits = fieldsOf(fields[isExempt ? 'exempt' : 'limited']);
  const response = fieldsOf(limits['limitResponse']);
  const queuing = fieldsOf(response['queuing']);
  const borrowing = limits['borrowingLimitPercent'];
  return {
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    isExempt,
    shares: numberOf(limits['nominalConcurrencyShares'], isExempt ? 0 : DEFAULT_SHARES),
    lendablePercent: numberOf(limits['lendablePercent'], 0),
    borrowingLimitPercent: typeof borrowing === 'number' ? borrowing : undefined,
    queuing:
      !isExempt && response['type'] === 'Queue'
        ? {
            queues: numberOf(queuing['queues'], 64),
            handSize: numberOf(queuing['handSize'], 8),
            lengthMax: numberOf(queuing['queueLengthLimit'], 50),
          }
        : undefined,
  };
};
