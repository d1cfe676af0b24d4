/** A connection that is about to be made by a pod, was made to one, or is passed on to an endpoint of a Service. */
export interface Connecting {
  readonly kind: 'connect' | 'accept' | 'forward';
  /** Addresses. */
  readonly from: string;
  readonly to: string;
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
  /** Of the Service through which it is passed on. */
  readonly service?: { readonly address: string; readonly port: number };
}

export interface Judgement {
  readonly isAllowed: boolean;
  readonly reason?: string;
}

/** Who decides about connections of pods. */
export interface ConnectionJudge {
  /** False: every connection is allowed, and need not be asked about. */
  readonly isPoliced: boolean;
  /** Begins to find out. */
  start(): void;
  onChange(listener: () => void): { dispose(): void };
  /** Never rejects. */
  judge(connection: Connecting): Promise<Judgement>;
}
