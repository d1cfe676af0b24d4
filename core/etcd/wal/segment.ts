/** `<sequence>-<first index>.wal`, 16 hex digits each, as etcd names its files: names sort as segments do. */
export interface SegmentName {
  readonly sequence: number;
  /** The index that the first entry written to it would have had. */
  readonly firstIndex: number;
}

const PATTERN = /^([0-9a-f]{16})-([0-9a-f]{16})\.wal$/;
const hex = (value: number): string => value.toString(16).padStart(16, '0');

export const segmentFile = ({ sequence, firstIndex }: SegmentName): string =>
  `${hex(sequence)}-${hex(firstIndex)}.wal`;

export const parseSegmentFile = (file: string): SegmentName | undefined => {
  const match = PATTERN.exec(file);
  if (match === null) return undefined;
  return { sequence: parseInt(match[1] as string, 16), firstIndex: parseInt(match[2] as string, 16) };
};
