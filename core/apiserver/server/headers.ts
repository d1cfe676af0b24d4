/**
 * The headers of a request, each value kept apart: HTTP/2 in Node joins repeated headers with a comma, and a
 * group to impersonate may contain one.
 */
export class RequestHeaders {
  readonly #values = new Map<string, string[]>();

  /** Names and values by turns, as both protocols give them raw. Pseudo headers are left out. */
  static fromRaw(raw: readonly string[]): RequestHeaders {
    const headers = new RequestHeaders();
    for (let at = 0; at + 1 < raw.length; at += 2) {
      const name = raw[at]!.toLowerCase();
      if (!name.startsWith(':')) headers.add(name, raw[at + 1]!);
    }
    return headers;
  }

  /** As HTTP/2 gives them: names are in lower case already. */
  static fromFields(fields: readonly { readonly name: string; readonly value: string }[]): RequestHeaders {
    const headers = new RequestHeaders();
    for (const { name, value } of fields) if (!name.startsWith(':')) headers.add(name, value);
    return headers;
  }

  static of(headers: Readonly<Record<string, string | readonly string[]>>): RequestHeaders {
    return RequestHeaders.fromRaw(
      Object.entries(headers).flatMap(([name, value]) =>
        (typeof value === 'string' ? [value] : value).flatMap((one) => [name, one]),
      ),
    );
  }

  add(name: string, value: string): void {
    const values = this.#values.get(name);
    if (values === undefined) this.#values.set(name, [value]);
    else values.push(value);
  }

  /** The first value, as Go's `Header.Get`. */
  get(name: string): string | undefined {
    return this.#values.get(name.toLowerCase())?.[0];
  }

  all(name: string): readonly string[] {
    return this.#values.get(name.toLowerCase()) ?? [];
  }

  /** Stages that consumed a credential take it out, so that nothing behind them can leak it. */
  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  /** Names are in lower case. */
  entries(): Iterable<readonly [string, readonly string[]]> {
    return this.#values.entries();
  }
}
