export interface Column {
  readonly id: string;
  readonly label: string;
  /** For columns of buttons: read out, not shown. */
  readonly hideLabel?: boolean;
  /** A CSS length; columns without one share what is left. */
  readonly width?: string;
  readonly align?: 'end';
  readonly mono?: boolean;
  readonly sorted?: 'ascending' | 'descending';
  /** Shown while the table is at least this wide, in px. */
  readonly showFrom?: 640 | 800 | 1000;
}
