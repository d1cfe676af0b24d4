import type { Socket } from 'node:net';
import { LINE_BYTES_MAX } from './protocol.ts';

/** Calls back for each line of JSON; ends the connection of anyone who sends something else. */
export const onJsonLines = (socket: Socket, onValue: (value: unknown) => void): void => {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    rest += text;
    if (rest.length > LINE_BYTES_MAX) return void socket.destroy();
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch {
        socket.destroy();
        return;
      }
      onValue(value);
    }
  });
};

export const sendJsonLine = (socket: Socket, value: unknown): void => {
  if (socket.writable) socket.write(`${JSON.stringify(value)}\n`);
};
