/** After G, the next key has to come within this time. */
export const GO_SEQUENCE_MS = 1_500;

/** Tells whether a key follows a G that goes to a page, so that no list takes it. Ask once for each key press. */
export const goSequence = (): ((event: Pick<KeyboardEvent, 'key' | 'timeStamp'>) => boolean) => {
  let goPressedAtMs = -Infinity;
  return ({ key, timeStamp }) => {
    const isAfterGo = timeStamp - goPressedAtMs < GO_SEQUENCE_MS;
    goPressedAtMs = !isAfterGo && key.toUpperCase() === 'G' ? timeStamp : -Infinity;
    return isAfterGo;
  };
};
