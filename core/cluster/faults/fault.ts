/** What can be broken on purpose. Names are hosts of the cluster; `load-balancer` is one for links. */
export type FaultRequest =
  /** Nothing that `from` sends reaches `to`; both ways unless `isOneWay`. Silence, not a reset. */
  | { readonly kind: 'cut'; readonly from: string; readonly to: string; readonly isOneWay: boolean }
  | {
      readonly kind: 'delay';
      readonly from: string;
      readonly to: string;
      readonly delayMs: number;
      readonly isOneWay: boolean;
    }
  /** Every fsync of the host's member takes this much longer. */
  | { readonly kind: 'slow-disk'; readonly host: string; readonly delayMs: number }
  /** The wall clock of everything on the host is off by this much. */
  | { readonly kind: 'clock'; readonly host: string; readonly offsetMs: number };

export type Fault = FaultRequest & {
  readonly id: string;
  /** One line about it. */
  readonly text: string;
};
