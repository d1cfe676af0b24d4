/** RFC 1035, section 4.2.2: over TCP each message has its length before it. */
export const frame = (message: Uint8Array): Buffer => {
  const framed = Buffer.allocUnsafe(message.length + 2);
  framed.writeUInt16BE(message.length, 0);
  framed.set(message, 2);
  return framed;
};

const NOTHING = Buffer.alloc(0);

/** Cuts a stream into messages. Holds at most one message that is not complete: 64 KiB. */
export class FrameReader {
  #rest: Buffer = NOTHING;

  get isEmpty(): boolean {
    return this.#rest.length === 0;
  }

  read(chunk: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (bytes.length >= 2) {
      const length = bytes.readUInt16BE(0);
      if (bytes.length < 2 + length) break;
      messages.push(bytes.subarray(2, 2 + length));
      bytes = bytes.subarray(2 + length);
    }
    // A copy: the rest of a large chunk must not keep the chunk.
    this.#rest = bytes.length === 0 ? NOTHING : Buffer.from(bytes);
    return messages;
  }
}
