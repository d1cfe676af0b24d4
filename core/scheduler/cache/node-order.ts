import { LABEL_REGION, LABEL_ZONE, type Node } from '../model/objects.ts';

export const zoneOf = (node: Node): string =>
  `${node.metadata.labels?.[LABEL_REGION] ?? ''}:\u0000:${node.metadata.labels?.[LABEL_ZONE] ?? ''}`;

/**
 * The order in which nodes are looked at: one of each zone in turn, so that a search that stops early has
 * seen all zones alike.
 */
export class NodeOrder {
  readonly #zones = new Map<string, Set<number>>();
  readonly #zoneOfSlot = new Map<number, string>();

  add(slot: number, zone: string): void {
    this.#zoneOfSlot.set(slot, zone);
    let slots = this.#zones.get(zone);
    if (!slots) this.#zones.set(zone, (slots = new Set()));
    slots.add(slot);
  }

  remove(slot: number): void {
    const zone = this.#zoneOfSlot.get(slot);
    if (zone === undefined) return;
    this.#zoneOfSlot.delete(slot);
    const slots = this.#zones.get(zone);
    slots?.delete(slot);
    if (slots?.size === 0) this.#zones.delete(zone);
  }

  zone(slot: number): string | undefined {
    return this.#zoneOfSlot.get(slot);
  }

  list(): Int32Array {
    const order = new Int32Array(this.#zoneOfSlot.size);
    const rest = [...this.#zones.values()].map((slots) => slots.values());
    let at = 0;
    while (at < order.length)
      for (const zone of rest) {
        const next = zone.next();
        if (!next.done) {
          order[at] = next.value;
          at += 1;
        }
      }
    return order;
  }
}
