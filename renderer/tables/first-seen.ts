/** The server prints ages, not moments: they count from when the row came. */
export const firstSeen = <Row extends object>(): ((row: Row) => number) => {
  const seen = new WeakMap<Row, number>();
  return (row) => {
    const known = seen.get(row);
    if (known !== undefined) return known;
    const atMs = Date.now();
    seen.set(row, atMs);
    return atMs;
  };
};
