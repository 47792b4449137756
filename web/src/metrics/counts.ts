// Counts by bucket index: pages of 64 buckets, made where values fall.
//
// A distribution touches a few octaves, so a few pages; counts are doubles, exact up to 2^53.

const PAGE_BITS = 6;
const PAGE_BUCKETS = 1 << PAGE_BITS;

export class Counts {
  private pages = new Map<number, Float64Array>();
  /** Page numbers in rising order, or null where a new page has made it stale. */
  private order: number[] | null = [];
  /** The page that was used last: values come in runs. */
  private last: Float64Array | null = null;
  private lastNumber = 0;

  add(index: number, count: number): void {
    const number = index >> PAGE_BITS;
    let page = this.last;
    if (page === null || this.lastNumber !== number) {
      page = this.page(number);
    }
    const slot = index & (PAGE_BUCKETS - 1);
    page[slot] = (page[slot] ?? 0) + count;
  }

  merge(other: Counts): void {
    for (const [number, more] of other.pages) {
      const page = this.page(number);
      for (let slot = 0; slot < PAGE_BUCKETS; slot++) {
        page[slot] = (page[slot] ?? 0) + (more[slot] ?? 0);
      }
    }
  }

  /** Buckets that are not empty, rising (or falling); stops when `visit` returns true. */
  each(visit: (index: number, count: number) => boolean | undefined, isFalling = false): void {
    const order = this.sorted();
    for (let place = 0; place < order.length; place++) {
      const number = order[isFalling ? order.length - 1 - place : place] ?? 0;
      const page = this.pages.get(number);
      for (let step = 0; page !== undefined && step < PAGE_BUCKETS; step++) {
        const slot = isFalling ? PAGE_BUCKETS - 1 - step : step;
        const count = page[slot] ?? 0;
        if (count !== 0 && visit(number * PAGE_BUCKETS + slot, count) === true) {
          return;
        }
      }
    }
  }

  clear(): void {
    this.pages.clear();
    this.order = [];
    this.last = null;
  }

  private page(number: number): Float64Array {
    let page = this.pages.get(number);
    if (page === undefined) {
      page = new Float64Array(PAGE_BUCKETS);
      this.pages.set(number, page);
      this.order = null;
    }
    this.last = page;
    this.lastNumber = number;
    return page;
  }

  private sorted(): number[] {
    this.order ??= [...this.pages.keys()].sort((a, b) => a - b);
    return this.order;
  }
}
