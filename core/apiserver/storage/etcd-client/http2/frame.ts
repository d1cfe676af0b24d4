/** RFC 9113, section 6. */
export const FRAME = {
  data: 0,
  headers: 1,
  resetStream: 3,
  settings: 4,
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
  flowControlError: 3,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
} as const;

export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
} as const;

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
export const FRAME_HEAD_BYTES = 9;
/** What every peer must take, and all that is ever sent or taken here. */
export const FRAME_PAYLOAD_BYTES_MAX = 16_384;
export const WINDOW_BYTES_DEFAULT = 65_535;
export const STREAM_ID_MAX = 0x7fffffff;

export const writeFrameHead = (
  to: Buffer,
  head: { readonly length: number; readonly type: number; readonly flags: number; readonly streamId: number },
): void => {
  to[0] = head.length >>> 16;
  to[1] = head.length >>> 8;
  to[2] = head.length;
  to[3] = head.type;
  to[4] = head.flags;
  to.writeUInt32BE(head.streamId, 5);
};

export const frame = (type: number, flags: number, streamId: number, payload: Uint8Array): Buffer => {
  const buffer = Buffer.allocUnsafe(FRAME_HEAD_BYTES + payload.length);
  writeFrameHead(buffer, { length: payload.length, type, flags, streamId });
  buffer.set(payload, FRAME_HEAD_BYTES);
  return buffer;
};

export const uint32 = (value: number): Buffer => {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(value >>> 0);
  return payload;
};

export const settings = (entries: readonly (readonly [id: number, value: number])[]): Buffer => {
  const payload = Buffer.allocUnsafe(entries.length * 6);
  entries.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, index * 6);
    payload.writeUInt32BE(value >>> 0, index * 6 + 2);
  });
  return frame(FRAME.settings, 0, 0, payload);
};

/** The server broke the protocol; only the connection can be given up. */
export class ProtocolBreach extends Error {
  readonly code: number;
  constructor(message: string, code: number = H2_ERROR.protocolError) {
    super(message);
    this.code = code;
  }
}
