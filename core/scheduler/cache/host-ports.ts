import type { HostPort } from '../model/pod-info.ts';

const EVERY_ADDRESS = '0.0.0.0';

/** The host ports in use on one node: protocol and port, then address, then how many pods hold it. */
export class HostPorts {
  readonly #held = new Map<string, Map<string, number>>();

  add({ ip, port }: HostPort): void {
    let addresses = this.#held.get(port);
    if (!addresses) this.#held.set(port, (addresses = new Map()));
    addresses.set(ip, (addresses.get(ip) ?? 0) + 1);
  }

  remove({ ip, port }: HostPort): void {
    const addresses = this.#held.get(port);
    const count = addresses?.get(ip);
    if (!addresses || count === undefined) return;
    if (count > 1) addresses.set(ip, count - 1);
    else addresses.delete(ip);
    if (addresses.size === 0) this.#held.delete(port);
  }

  /** A port on every address is in the way of the same port on any one, and the other way round. */
  conflicts({ ip, port }: HostPort): boolean {
    const addresses = this.#held.get(port);
    if (!addresses) return false;
    return ip === EVERY_ADDRESS || addresses.has(EVERY_ADDRESS) || addresses.has(ip);
  }
}
