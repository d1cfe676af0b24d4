/** Cards of one row: how many fit, and where their middles are. */
export interface RowLayout {
  readonly columns: number;
  readonly centers: readonly number[];
}

export const CARD_GAP = 12;
/** Below this a host's card cannot hold the longest name of a component beside its role. */
export const HOST_WIDTH_MIN = 220;

/** As many columns as fit, evenly filled; more cards than fit go to further rows. */
export const rowLayout = (count: number, width: number, widthMin = HOST_WIDTH_MIN): RowLayout => {
  const fitting = Math.max(1, Math.floor((width + CARD_GAP) / (widthMin + CARD_GAP)));
  const rows = Math.ceil(count / fitting);
  const columns = Math.max(1, Math.ceil(count / Math.max(1, rows)));
  const step = (width + CARD_GAP) / columns;
  const centers = Array.from({ length: Math.min(count, columns) }, (_, index) =>
    Math.round(index * step + (step - CARD_GAP) / 2),
  );
  return { columns, centers };
};

/** From the middle down to a bar, along it, and down to each card. */
export const wiresDown = (centers: readonly number[], width: number, height: number): string => {
  const middle = Math.round(width / 2);
  const bar = Math.round(height / 3);
  const [first] = centers;
  const last = centers.at(-1);
  if (first === undefined || last === undefined) return '';
  if (centers.length === 1) return `M${first} 0V${height}`;
  const drops = centers.map((x) => `M${x} ${bar}V${height}`).join('');
  return `M${middle} 0V${bar}M${first} ${bar}H${last}${drops}`;
};

/** Straight down from each card. */
export const wiresStraight = (centers: readonly number[], height: number): string =>
  centers.map((x) => `M${x} 0V${height}`).join('');

export type SlotKind = 'failing' | 'pending' | 'system' | 'pod' | 'free';
export const SLOT_COLUMNS = 11;
/** Upstream's default of a kubelet; a node that takes more is drawn with as many slots and counted in words. */
export const SLOTS_DRAWN_MAX = 110;

/** What each square of a node stands for, the ones that need a person first. */
export const slotKinds = (
  pods: {
    readonly failing: number;
    readonly pending: number;
    readonly system: number;
    readonly total: number;
  },
  capacity: number,
): readonly SlotKind[] => {
  const plain = Math.max(0, pods.total - pods.failing - pods.pending - pods.system);
  const slots = Math.min(SLOTS_DRAWN_MAX, Math.max(capacity, 0));
  const filled: SlotKind[] = [
    ...Array.from({ length: pods.failing }, (): SlotKind => 'failing'),
    ...Array.from({ length: pods.pending }, (): SlotKind => 'pending'),
    ...Array.from({ length: pods.system }, (): SlotKind => 'system'),
    ...Array.from({ length: plain }, (): SlotKind => 'pod'),
  ];
  return Array.from({ length: slots }, (_, index) => filled[index] ?? 'free');
};

const round = (value: number): number => Math.round(value * 10) / 10;

/** One path a kind, so that a node costs five elements and not a hundred. */
export const slotPaths = (
  kinds: readonly SlotKind[],
  { size, gap }: { readonly size: number; readonly gap: number },
): Readonly<Partial<Record<SlotKind, string>>> => {
  const paths: Partial<Record<SlotKind, string>> = {};
  kinds.forEach((kind, index) => {
    const x = round((index % SLOT_COLUMNS) * (size + gap));
    const y = round(Math.floor(index / SLOT_COLUMNS) * (size + gap));
    const half = round(size / 2);
    const shape =
      kind === 'failing'
        ? `M${round(x + half)} ${y}l${half} ${half}l${-half} ${half}l${-half} ${-half}z`
        : kind === 'pending'
          ? `M${x + 0.5} ${y + 0.5}h${size - 1}v${size - 1}h${1 - size}z`
          : `M${x} ${y}h${size}v${size}h${-size}z`;
    paths[kind] = (paths[kind] ?? '') + shape;
  });
  return paths;
};
