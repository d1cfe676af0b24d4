import { defineStore } from 'pinia';
import { shallowRef } from 'vue';
import { readRemembered, remember } from './remembered.ts';

/** As many as there are digits to reach them by. */
export const PINS_MAX = 9;
const STORAGE_KEY = 'pilothouse.hotbar';
const TEXT_CHARACTERS_MAX = 2048;

/** A place of the console that a person keeps at hand: a page, a filtered list, one object. */
export interface Pin {
  readonly title: string;
  /** Within the console: `/workloads?kind=pods&filter=web`. */
  readonly address: string;
}

/** Nothing but an address of the console: what was stored may have been written by anything. */
export const isPin = (value: unknown): value is Pin => {
  const { title, address } = (value ?? {}) as Partial<Record<keyof Pin, unknown>>;
  return (
    typeof title === 'string' &&
    typeof address === 'string' &&
    /^\/(?![/\\])/.test(address) &&
    title.length + address.length <= TEXT_CHARACTERS_MAX
  );
};

const read = (): readonly Pin[] => {
  try {
    const stored: unknown = JSON.parse(readRemembered(STORAGE_KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isPin).slice(0, PINS_MAX) : [];
  } catch {
    // Written by hand or cut off.
    return [];
  }
};

/** Places at hand, in the order in which they were pinned. */
export const useHotbar = defineStore('hotbar', () => {
  const pins = shallowRef(read());
  const become = (next: readonly Pin[]): void => {
    pins.value = next;
    remember(STORAGE_KEY, next.length > 0 ? JSON.stringify(next) : undefined);
  };
  const has = (address: string): boolean => pins.value.some((pin) => pin.address === address);
  /** False where all places are taken. */
  const pin = (next: Pin): boolean => {
    if (has(next.address)) return true;
    if (pins.value.length >= PINS_MAX || !isPin(next)) return false;
    become([...pins.value, next]);
    return true;
  };
  const unpin = (address: string): void => become(pins.value.filter((one) => one.address !== address));
  /** All of them, as a workspace kept them. */
  const replace = (next: readonly Pin[]): void => become(next.filter(isPin).slice(0, PINS_MAX));
  return { pins, has, pin, unpin, replace };
});
