/** RFC 9113, section 6. */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** RFC 9113, section 7. */
export const H2_ERROR = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const;
export type H2ErrorCode = (typeof H2_ERROR)[keyof typeof H2_ERROR];

export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
export const FRAME_HEADER_BYTES = 9;
/** What a peer may send before anything was agreed on, and all we ever take. */
export const FRAME_PAYLOAD_BYTES_MAX = 16_384;
export const WINDOW_BYTES_DEFAULT = 65_535;
export const WINDOW_BYTES_MAX = 0x7fffffff;
export const STREAM_ID_MAX = 0x7fffffff;

export interface FrameHead {
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
}

export const writeFrameHead = (to: Buffer, offset: number, head: FrameHead): void => {
  to[offset] = head.length >>> 16;
  to[offset + 1] = head.length >>> 8;
  to[offset + 2] = head.length;
  to[offset + 3] = head.type;
  to[offset + 4] = head.flags;
  to.writeUInt32BE(head.streamId, offset + 5);
};

export const frame = (type: number, flags: number, streamId: number, payload: Uint8Array): Buffer => {
  const buffer = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  writeFrameHead(buffer, 0, { length: payload.length, type, flags, streamId });
  buffer.set(payload, FRAME_HEADER_BYTES);
  return buffer;
};

export const uint32Payload = (value: number): Buffer => {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(value >>> 0);
  return payload;
};

export const settingsPayload = (settings: readonly (readonly [id: number, value: number])[]): Buffer => {
  const payload = Buffer.allocUnsafe(settings.length * 6);
  settings.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, index * 6);
    payload.writeUInt32BE(value >>> 0, index * 6 + 2);
  });
  return payload;
};
